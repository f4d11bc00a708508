"""A bulk load leaves what retain would have left, foreign keys included, and can be repeated."""

from datetime import UTC, datetime

import numpy as np
import psycopg
from psycopg.rows import dict_row

from memorybank.text.traits import Form, Trait, speaker_number
from memorybank_eval import bulk
from memorybank_eval.bulk import Plan
from memorybank_eval.crowd import Source
from memorybank_eval.datasets import Turn

AT = datetime(2024, 1, 1, tzinfo=UTC)
KEYS = "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1, 2"
HELD = """
SELECT (SELECT count(*) FROM memory_unit) AS facts, (SELECT count(*) FROM embedding) AS vectors,
       (SELECT count(*) FROM posting WHERE term = 0) AS counted, (SELECT count(*) FROM chunk) AS chunks,
       (SELECT count(*) FROM document) AS documents, (SELECT count(*) FROM unit_link) > 0 AS linked,
       (SELECT count(DISTINCT unit) FROM unit_entity) AS naming,
       (SELECT count(*) FROM embedding WHERE speaker = %s) AS said
"""


def test_a_load_leaves_every_row_and_key_once(conninfo: str) -> None:
    turns = [Turn(str(number), f"Ana: what {number} is", AT, 0) for number in range(50)]
    ana = speaker_number("Ana")
    source = Source(turns, np.eye(50, 384, dtype=np.float32), [Form(ana, Trait(0))] * 50)
    plan = Plan("crowd", 2, 70, 1)
    with psycopg.connect(conninfo, autocommit=True, row_factory=dict_row) as connection:
        before = connection.execute(KEYS).fetchall()
        first = bulk.load(conninfo, plan, source, lambda line: None)
        again = bulk.load(conninfo, plan, source, lambda line: None)
        assert (first.facts, again.facts) == (140, 0)
        assert connection.execute(KEYS).fetchall() == before
        held = connection.execute(HELD, [ana]).fetchone()  # type: ignore[arg-type]
    assert held == {
        "facts": 140,
        "vectors": 140,
        "counted": 140,
        "chunks": 28,
        "documents": 8,
        "linked": True,
        "naming": 140,
        "said": 140,
    }
