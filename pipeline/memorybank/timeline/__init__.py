"""Time: expressions in texts and questions as ranges, time stamps in and out.

Everything here is pure. `languages/` says how words of time are put together and which words a language has;
`grammar.py` compiles both, `find.py` finds expressions, `resolve.py` reckons them.

A day that a text names is a calendar day: it becomes 00:00 to 23:59:59.999999 in UTC with the date that a reader sees.
Relative words count from the anchor's own calendar date, in the anchor's own zone. Only exact times ("two hours ago",
an ISO date with a time) are converted between zones.
"""

from memorybank.timeline.find import dated, days, find_times, lengths
from memorybank.timeline.question import phrase_window, query_window
from memorybank.timeline.span import EARLIEST, LATEST, Grain, TimeSpan
from memorybank.timeline.stamps import iso, line_stamps, parse_stamp, parse_timestamp

__all__ = [
    "EARLIEST",
    "LATEST",
    "Grain",
    "TimeSpan",
    "dated",
    "days",
    "find_times",
    "iso",
    "lengths",
    "line_stamps",
    "parse_stamp",
    "parse_timestamp",
    "phrase_window",
    "query_window",
]
