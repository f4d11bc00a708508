"""One walk of one who asks: all that there is to read, and past all doors that must look shut."""

from isolation_doors import open_rows, operators_alone, shut_banks, shut_rows
from isolation_look import Look
from isolation_reads import READS
from isolation_shared import band, entries


async def walk(look: Look, share: float) -> None:
    """Walk through both banks, a share of the way; past what is not theirs, half of that."""
    for bank in range(2):
        if look.knows(bank):
            for read in READS.values():
                if look.chance.random() < share:
                    await read(look, bank)
    for across in (band, entries):
        if look.chance.random() < share:
            await across(look)
    await open_rows(look, share)
    await shut_banks(look, share / 2)
    await shut_rows(look, share / 2)
    await operators_alone(look)
