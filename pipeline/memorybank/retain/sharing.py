"""Which chunks share a call: small ones of one operation that are alike in all that their facts take over. Pure.

A call costs its instructions, whatever it is about. Only the date and the document may differ, for each content of a
call says its own: so a fact that a model ascribes to the wrong one never comes under other tags or to other entities.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from memorybank.storage.chunks import Pending

#: A chunk is small when so many of its size fit into one.
FITTING = 2
#: Chunks of one call at most: the more there are, the more often a model mixes them up.
MOST = 30


def groups(chunks: Sequence[Pending], most_characters: int) -> list[list[Pending]]:
    """Return the chunks in groups for one call each, in order of their first; a group has at most `most_characters`."""
    made: list[list[Pending]] = []
    open_groups: dict[str, tuple[list[Pending], int]] = {}
    for chunk in chunks:
        size = len(chunk.text)
        key = _alike(chunk) if size * FITTING <= most_characters else ""
        group, held = open_groups.get(key, ([], 0))
        if not key or not group or held + size > most_characters or len(group) == MOST:
            group, held = [], 0
            made.append(group)
        group.append(chunk)
        if key:
            open_groups[key] = group, held + size
    return made


def _alike(chunk: Pending) -> str:
    """Return what is equal for chunks that may share a call: all that is said about them but their date."""
    about = replace(
        chunk.about, mentioned_at=None, mentioned_at_assumed=False, tags=tuple(sorted(chunk.about.tags))
    )
    return json.dumps(asdict(about), sort_keys=True)
