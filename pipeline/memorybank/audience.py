"""Who may see and change what. The only place where such a rule lives.

Inside a bank stands the audience: a row that names a circle (the bank itself, an agent, a subject, an organization, a
place, a direct talk). Each remembered row belongs to one; so far all belong to that of their bank. A request is
resolved once to a Viewer, and every read asks for it: there is no way to read without one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Viewer:
    """Who asks: the audience ids this request may see, or, explicitly, the operator, who sees all of them."""

    audiences: tuple[int, ...]
    sees_all: bool = False

    @classmethod
    def operator(cls) -> "Viewer":
        """Return the operator: whoever runs the installation."""
        return cls(audiences=(), sees_all=True)

    def parameters(self) -> Mapping[str, Any]:
        """Return the two SQL parameters that every read of an audience's rows takes."""
        return {"sees_all": self.sees_all, "audiences": list(self.audiences)}
