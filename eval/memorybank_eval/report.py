"""Results as people read them, and as files."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Columns of the retrieval table, and those that show their interval too.
METRICS = (
    "any@5", "any@10", "any@20", "all@5", "all@10", "all@20", "frac@5", "frac@10", "frac@20", "ndcg@10", "mrr"
)  # fmt: skip
WITH_INTERVAL = ("any@10", "frac@10", "ndcg@10")


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def say(line: str) -> None:
    """Tell on standard error how far it is."""
    print(line, file=sys.stderr, flush=True)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines, making the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table, columns aligned; all but the first are numbers."""
    widths = [max(len(line[place]) for line in (head, *rows)) for place in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join([first, *others])} |"

    rule = f"| {' | '.join(['-' * widths[0], *('-' * (width - 1) + ':' for width in widths[1:])])} |"
    return "\n".join([line(head), rule, *map(line, rows)])


def retrieval(result: Mapping[str, Any]) -> str:
    """Return a retrieval result as text: every metric in percent, some with their 95 % interval, and the times."""
    categories = result["categories"]
    means = [
        [name, str(row["questions"]), *(_percent(row["metrics"][metric][0]) for metric in METRICS)]
        for name, row in categories.items()
    ]
    intervals = [
        [name, *(interval(row["metrics"][metric]) for metric in WITH_INTERVAL)]
        for name, row in categories.items()
    ]
    times = result["milliseconds_per_question"]
    return "\n\n".join(
        [
            f"{result['dataset']}: {result['turns']} turns, {result['facts']} facts, {result['questions']} questions"
            f" ({result['answers_with_fewer_turns_than_20']} answers hold fewer than 20 turns)",
            table(["category", "n", *METRICS], means),
            table(["95 % interval", *WITH_INTERVAL], intervals),
            f"per question: p50 {times['p50']} ms, p95 {times['p95']} ms;"
            f" retained in {result['retain_seconds']} s",
        ]
    )


def _percent(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f}"


def interval(estimate: Sequence[float], sign: str = "") -> str:
    """Return a mean with the ends of its interval, in percent; `sign` "+" for differences."""
    mean, low, high = (_percent(share, sign) for share in estimate)
    return f"{mean} [{low}, {high}]"


def benchmark(result: Mapping[str, Any]) -> str:
    """Return a benchmark result as one table of figures."""
    rows: list[list[str]] = []
    sections = {
        "install": _install_rows,
        "startup": _startup_rows,
        "scripted": _retain_rows,
        "extractive": _retain_rows,
        "scale": _scale_rows,
    }
    for name, section in sections.items():
        if name in result:
            rows += section(result[name])
    return table(["figure", "value"], rows)


def _install_rows(part: Mapping[str, Any]) -> list[list[str]]:
    return [
        ["install: size of site-packages", f"{part['megabytes']} MB in {part['packages']} packages"],
        ["install: time, nothing cached", f"{part['seconds']} s"],
    ]


def _startup_rows(part: Mapping[str, Any]) -> list[list[str]]:
    named = {
        "start to healthy, cold (empty home)": "cold_seconds",
        "start to healthy, warm": "warm_seconds",
        "first retain of a fresh server": "first_retain_seconds",
        "first recall of a fresh server": "first_recall_seconds",
    }
    rows = [[name, _spread(part[key], "s")] for name, key in named.items()]
    return [*rows, *_memory_rows("memory, idle", part["idle_memory_mb"])]


def _memory_rows(name: str, by_role: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    rows = [
        [f"{name}: {role} (RSS / PSS)", f"{used['rss']:.0f} / {used['pss']:.0f} MB"]
        for role, used in by_role.items()
    ]
    total = sum(used["pss"] for used in by_role.values())
    return [*rows, [f"{name}: all (PSS)", f"{total:.0f} MB"]]


def _retain_rows(part: Mapping[str, Any]) -> list[list[str]]:
    name = f"retain, {part['engine']}"
    rows = [
        [f"{name}: turns per CPU second", _spread(part["turns_per_cpu_second"], "")],
        [f"{name}: facts of {part['turns']} turns", str(part["facts"])],
    ]
    return [*rows, *_memory_rows(f"memory after retain, {part['engine']}", part["memory_mb"])]


def _scale_rows(part: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for step in part["steps"]:
        filled = step["filled"]
        if filled and filled["turns"] > 1000:
            rows += [
                ["retain in mode chunks: facts per second", f"{filled['facts_per_second']}"],
                ["retain in mode chunks: facts per CPU second", f"{filled['facts_per_cpu_second']}"],
                ["database bytes per fact", f"{filled['database_bytes_per_fact']}"],
            ]
        for way in ("one_at_a_time", "8_at_once"):
            asked = step[way]
            rows.append(
                [
                    f"recall at {step['facts']} facts, {way.replace('_', ' ')}: p50 / p95",
                    f"{asked['p50_ms']:.1f} / {asked['p95_ms']:.1f} ms, {asked['per_second']:.0f}/s,"
                    f" {asked['cpu_ms']:.1f} ms CPU",
                ]
            )
    return [*rows, *_memory_rows("memory after load", part["memory_mb"])]


def _spread(value: Mapping[str, float], unit: str) -> str:
    return f"{value['median']} {unit} ({value['min']}-{value['max']})".replace("  ", " ")
