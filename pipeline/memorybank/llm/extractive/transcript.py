"""Turns given as lines: "Mara: text", "[2026-02-02 10:00] Mara: text", "[user] text"; lines without a label go on."""

from dataclasses import replace
from datetime import datetime

from memorybank.llm.extractive.labels import trusted_labels
from memorybank.llm.extractive.lines import Line, read
from memorybank.llm.extractive.turns import Turn, role_of


def read_lines(text: str) -> list[Turn]:
    """The turns of a text of lines; a date on a line of its own holds for the lines below."""
    lines = read(text)
    labels = trusted_labels(lines)
    turns: list[Turn] = []
    said: datetime | None = None
    fresh, last = True, 0
    for line in lines:
        if line.parts:
            said, fresh = line.said or said, True
        elif line.blank and line.label not in labels:
            # A blank line parts paragraphs, but a speaker may go on after it.
            fresh = fresh or not turns or turns[-1].speaker is None
        else:
            turn = _turn(line, labels, said)
            if turn.speaker is None and not line.sure and not fresh:
                gap = "\n" * (line.number - last)
                turns[-1] = replace(turns[-1], text=f"{turns[-1].text}{gap}{turn.text}")
            else:
                turns.append(turn)
            fresh, last = False, line.number
    return turns


def _turn(line: Line, labels: frozenset[str], said: datetime | None) -> Turn:
    moment = line.said or said
    if line.label is None or line.label not in labels:
        return Turn(line.whole if line.label else line.text, said=moment)
    return Turn(line.text, line.label, role_of(line.label), moment)
