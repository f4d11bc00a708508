"""One walk of one who asks: all that there is to read, and past all doors that must look shut."""

from isolation_doors import open_rows, operators_alone, shut_banks, shut_rows
from isolation_look import Look
from isolation_reads import READS
from isolation_shared import band, entries


async def walk(look: Look, share: float) -> None:
    """Walk through both banks; `share`: of all calls, so many are asked of a bank that is not theirs."""
    for bank in range(2):
        if look.knows(bank):
            for read in READS.values():
                await read(look, bank)
    await band(look)
    await entries(look)
    await open_rows(look)
    await shut_banks(look, share)
    await shut_rows(look)
    await operators_alone(look)
