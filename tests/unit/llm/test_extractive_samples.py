"""The samples that the demo reads."""

import json
from datetime import datetime

from memorybank.llm.extractive import Finding, extract
from memorybank.paths import configs

SAMPLES = configs() / "samples"


def findings_of(session: dict[str, object]) -> list[Finding]:
    turns = session["turns"]
    assert isinstance(turns, list)
    text = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)
    return extract(text, datetime.fromisoformat(str(session["timestamp"])), context=str(session["context"]))


def test_the_harbour_sample_has_what_a_demo_needs() -> None:
    sample = json.loads((SAMPLES / "harbour.json").read_text(encoding="utf-8"))
    sessions = sample["sessions"]
    assert len(sessions) >= 8 and len(sample["questions"]) >= 3
    assert all(datetime.fromisoformat(session["timestamp"]).tzinfo is not None for session in sessions)
    found = [finding for session in sessions for finding in findings_of(session)]
    entities = {name for finding in found for name in finding.entities}
    assert {"Gullwing", "Brandt & Vik", "Lantern Café", "Port Ellery", "Annika", "Sorin"} <= entities
    days = {finding.occurred.start.date().isoformat() for finding in found if finding.occurred}
    assert {"2026-02-06", "2026-06-06", "2026-07-28"} <= days
    assert any(finding.fact_type == "experience" for finding in found)
    assert not any("Wann fährt" in finding.text or "See you tomorrow" in finding.text for finding in found)


def test_the_workshop_sample_is_read_by_its_own_dates() -> None:
    found = extract((SAMPLES / "workshop.txt").read_text(encoding="utf-8"), None)
    assert {finding.speaker for finding in found} == {"Runa", "Ezra", "Juno"}
    assert {finding.mentioned.date().isoformat() for finding in found if finding.mentioned} == {
        "2026-01-12", "2026-01-26", "2026-02-09", "2026-03-02", "2026-03-21",
    }  # fmt: skip
    crack = next(finding for finding in found if "cracked" in finding.text)
    assert crack.occurred is not None and crack.occurred.start.date().isoformat() == "2026-03-01"
