"""Becomes one PostgreSQL program: `python -I -S launcher.py PARENT UID GID DATA PROGRAM ARGUMENT…`.

PostgreSQL refuses to run as root, so root runs it as another user. That user often cannot walk to the data or
to the binaries, because a folder above them (root's home, a temporary folder) is closed to others, and
opening such a folder is not ours to do. Then the program keeps ONE capability of root, the smallest that is
enough. A capability alone would not do: access(2), which PostgreSQL uses to look for its files, drops
capabilities of everyone whose real uid is not 0, unless the securebit NO_SETUID_FIXUP stands.

It imports nothing of memorybank, and everything before the change of user: afterwards the standard library
may be out of reach. Linux only.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

#: prctl(2) options.
PR_SET_PDEATHSIG, PR_GET_SECUREBITS, PR_SET_SECUREBITS = 1, 27, 28
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 38, 47, 2
#: Capabilities then survive the change of user, and access(2) heeds them.
SECBIT_NO_SETUID_FIXUP = 1 << 2
#: What may be kept, smallest first: nothing; read and search any folder; also write anywhere. The last one
#: stands in only where the second is missing (containers often drop it), as it would let an SQL superuser
#: write any file.
CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE = 1 << 2, 1 << 1
CHOICES = (0, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)
#: capset(2), the version with two words a set.
CAPABILITY_VERSION = 0x20080522
#: Exit code of a launcher that could not become the program.
FAILED = 126

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def main(arguments: Sequence[str]) -> None:
    """Change the user where asked, tie the life to the parent's, and turn into the program; never returns."""
    parent, uid, gid = map(int, arguments[:3])
    data, program = arguments[3:5]
    if uid != os.geteuid():
        _become(uid, gid)
        _keep_least(program, data)
    _die_with(parent)
    os.umask(0o077)
    os.execv(program, list(arguments[4:]))


def _become(uid: int, gid: int) -> None:
    """Change the user for good; where the securebit is refused, every capability is lost on the way."""
    bits = _libc.prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)
    _libc.prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _keep_least(program: str, data: str) -> None:
    """Keep the smallest capability with which program and data can be reached, and drop all others."""
    held = _permitted() & (CAP_DAC_READ_SEARCH | CAP_DAC_OVERRIDE)
    for choice in CHOICES:
        if choice & ~held:
            continue
        _set_capabilities(effective=choice, permitted=held)
        if not _unreachable(program, data):
            break
    else:
        sys.exit(_fail(f"user {os.geteuid()} cannot reach {_unreachable(program, data)}"))
    _set_capabilities(effective=choice, permitted=choice)
    if choice:
        # Ambient capabilities are the only ones that pass execve of a plain file by a user who is not root.
        _check(
            _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, choice.bit_length() - 1, 0, 0),
            "keep a capability",
        )
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges")


def _unreachable(program: str, data: str) -> str:
    """Return the first path that is out of reach, or nothing: the program, what it loads, and the data."""
    install = os.path.dirname(os.path.dirname(program))
    needs = (
        (program, os.X_OK),
        (os.path.join(install, "share", "postgres.bki"), os.R_OK),
        (os.path.join(install, "lib", "vector.so"), os.R_OK),
        (data, os.R_OK | os.W_OK | os.X_OK),
    )
    return next((path for path, mode in needs if not os.access(path, mode)), "")


def _permitted() -> int:
    sets = (_Sets * 2)()
    _check(_libc.capget(ctypes.byref(_Header(CAPABILITY_VERSION, 0)), sets), "read capabilities")
    return int(sets[0].permitted)


def _set_capabilities(*, effective: int, permitted: int) -> None:
    sets = (_Sets * 2)(_Sets(effective, permitted, permitted))
    _check(_libc.capset(ctypes.byref(_Header(CAPABILITY_VERSION, 0)), sets), "drop capabilities")


def _die_with(parent: int) -> None:
    """Ask for a fast shutdown when the parent's thread ends; last, as a change of user clears it."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0), "follow the parent's death")
    if os.getppid() != parent:
        sys.exit(_fail("the parent is gone"))


def _check(result: int, what: str) -> None:
    if result != 0:
        sys.exit(_fail(f"cannot {what}: {os.strerror(ctypes.get_errno())}"))


def _fail(message: str) -> int:
    os.write(2, f"launcher: {message}\n".encode())
    return FAILED


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(_fail(str(error)))
