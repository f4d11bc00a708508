"""The work of the benchmark is the same each time, and distinct where it says so."""

import json
from pathlib import Path

from memorybank_eval import install, report, scale, workload


def test_made_up_conversation_is_reproducible_and_has_the_stated_shape() -> None:
    first, second = workload.made_up(), workload.made_up()
    assert first == second
    assert len(first.turns) == 420
    assert [len(session) for session in first.sessions()] == [21] * 20
    assert first.turns[0].text.startswith("Maya: ")
    assert len({turn.id for turn in first.turns}) == 420
    assert "{" not in "".join(turn.text for turn in first.turns)


def test_further_turns_are_distinct_and_made_of_known_words() -> None:
    turns = workload.made_up().turns
    more = list(workload.further(turns, 3000))
    assert len({turn.text for turn in more}) == len({turn.id for turn in more}) == 3000
    known = {word for turn in turns for word in turn.text.partition(": ")[2].split()}
    said = more[17].text.partition(": ")[2].rpartition(" (")[0].split()
    assert set(said) <= known
    assert more == list(workload.further(turns, 3000))


def test_distinct_questions_repeat_with_a_mark() -> None:
    assert workload.distinct(["a?", "b?"], 3, "x") == ["a? (x0)", "b? (x1)", "a? (x2)"]


def test_a_transcript_has_a_line_a_turn(tmp_path: Path) -> None:
    session = workload.made_up().sessions()[0]
    assert len(workload.transcript(session).splitlines()) == 21


def test_sizes_are_sums_of_files(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "base" / "5").mkdir(parents=True)
    (tmp_path / "postgres" / "base" / "5" / "1").write_bytes(b"x" * 300)
    (tmp_path / "postgres" / "base" / "2").write_bytes(b"x" * 50)
    (tmp_path / "postgres" / "pg_wal").mkdir()
    (tmp_path / "postgres" / "pg_wal" / "1").write_bytes(b"x" * 1000)
    assert scale.database_bytes(tmp_path) == 350
    assert install.sizes_of(tmp_path / "postgres") == {"pg_wal": 1000, "base": 350}


def test_benchmark_table_shows_what_was_measured(tmp_path: Path) -> None:
    memory = {"api": {"rss": 100.4, "pss": 80.0}, "postgres": {"rss": 50.0, "pss": 20.4}}
    asked = {"p50_ms": 5.04, "p95_ms": 9.96, "per_second": 150.2, "cpu_ms": 6.0}
    result = {
        "install": {"megabytes": 300.5, "packages": 60, "seconds": 40.1},
        "scale": {
            "steps": [{"facts": 420, "filled": None, "one_at_a_time": asked, "8_at_once": asked}],
            "memory_mb": memory,
        },
    }
    shown = report.benchmark(result)
    assert "300.5 MB in 60 packages" in shown
    assert "recall at 420 facts, one at a time: p50 / p95" in shown
    assert "5.0 / 10.0 ms, 150/s, 6.0 ms CPU" in shown
    assert "100 MB" in shown  # 80 + 20.4 of PSS
    report.write_json(tmp_path / "results" / "r.json", result)
    assert json.loads((tmp_path / "results" / "r.json").read_text()) == result
