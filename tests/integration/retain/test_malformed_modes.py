"""However a model answers: nothing is lost silently, and every call stands in the ledger."""

from pathlib import Path

from memorybank_eval import malformed

CHUNKS = 6
#: Modes that a larger run needs to get below two calls a chunk: what they teach comes from the first chunks.
LEARNING = ("schema ignored", "cut at length", "all of these by turns")


async def test_every_fact_is_kept_or_counted(conninfo: str, tmp_path: Path) -> None:
    rows = await malformed.measure(CHUNKS, tmp_path, {"MEMORYBANK_DATABASE__URL": conninfo})
    assert [row.mode for row in rows] == list(malformed.MODES)
    for row in rows:
        assert row.kept + row.unreadable + row.lost_by_name == row.facts > CHUNKS, row
        assert row.calls == row.ledger <= (6 if row.mode in LEARNING else 2) * CHUNKS, row
    kept = {row.mode: row.kept / row.facts for row in rows}
    losing = (
        "a third of the facts broken",
        "one item that does not read",
        "refusal of some chunks",
        LEARNING[-1],
    )
    assert all(share == 1 for mode, share in kept.items() if mode not in losing)
    assert all(kept[mode] > 0.5 for mode in losing)
