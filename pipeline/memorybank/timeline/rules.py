"""The grammar: how words of time are put together. One table for scripts with spaces, one for those without.

Special rows stand above general ones; the action "nothing" takes words away from the rows below. Which words a piece
(`<on>`, `<of>`, `<ago_before>` …) stands for is said in `languages/*.toml`; what a language does not have never matches.
"""

# Tables are read by the line: one rule, one line.
# ruff: noqa: E501
# fmt: off

from memorybank.timeline.grammar import Rule

_NONE = "(?!)"

#: Pieces of spaced languages: built from other pieces, or what stands for a language that does not say.
SPACED_PIECES = {
    # What a direction word moves, before or behind it: "last week", "semana pasada".
    "join": r"(?: |(?<='))",
    "unit_moved": r"(?:<before><join><big_unit>|<big_unit2> <behind>)",
    "year_moved": r"(?:<before><join><units_year>|<units_year2> <behind>)",
    "week_moved": r"(?:<before><join><units_week>|<units_week2> <behind>)",
    "month_moved": r"(?:<before><join><units_month>|<units_month2> <behind>)",
    "weekday_moved": r"(?:<before><join><any_weekday><weekday_end>|<weekday2><weekday_end> <behind>)",
    "month_name_moved": r"(?:<before><join><any_month>|<month2> <behind>)",
    "season_moved": r"(?:<before><join><season>|<season2> <behind>)",
    "holiday_moved": r"(?:<before><join><holiday>|<holiday2> <behind>)",
    # Days: "Sunday, the 7th of May", "May 7th".
    "wday": r"(?:<any_weekday><weekday_end>\.?,? ?\(?)?",
    "dm": r"<the>(?:<day><th>|<first>)<dot>[ -]?<of><any_month>\.?",
    "md": r"<any_month>\.? <the><day><th>",
    # Amounts: "three weeks", "1 year and 2 months", "a few days", "half a year", "a year and a half".
    "chain": r"(?:<n>|<fraction>) ?(?:<unit>)(?:(?:,? ?<and>)(?:<n2>) ?(?:<unit2>))*",
    "amount": r"(?:<vague> <unit>|<half>[ -]?<unit>|<n> (?:<and_half> <unit>|<unit> <and_half>)|<chain>|<bare_unit>)",
    "count": r"(?:<vague>|<n>)",
    "bare_unit": _NONE, "half": _NONE, "and_half": _NONE, "exact": _NONE, "first": _NONE,
    "on": "", "in": "", "at": "<in>", "the": "", "of": "", "oy": " ", "th": "", "part_of": " ", "about": "", "daytime": "", "span": "",
    "from": "", "weekday_end": "", "not_counted": "", "no_day": "", "in_end": "", "month_end": "", "alone_before": "", "alone_behind": "",
    "on_sure": _NONE, "from_sure": _NONE, "of_sure": "<of>", "of_week": "<of>", "of_year": "<of>", "week_of": _NONE, "week_number": _NONE, "week_named": _NONE,
    "bc": _NONE, "every": _NONE, "every_end": "", "habit": _NONE, "numeric_on": _NONE, "day_on": _NONE, "day_end": "",
    "ago_before": _NONE, "ago_behind": _NONE, "in_before": _NONE, "sure_before": _NONE, "sure_behind": _NONE,
    "month_on": _NONE, "season_on": _NONE, "holiday_on": _NONE, "year_on": _NONE, "year_end": "", "weekend_near": _NONE, "decades": _NONE,
    "to": r"(?:-|–|—)", "nth": "<th>", "dot": "", "year_word": "", "and": "", "half_of": _NONE,
}

SPACED = (
    Rule("nothing", r"<bc>"),
    Rule("nothing", r"<every>(?:<weekday>|<month>|<season>|<unit>)<every_end>"),
    Rule("nothing", r"<habit>"),
    Rule("nothing", r"<on><any_weekday><weekday_end> ?<to> ?<any_weekday2>"),
    Rule("week_of", r"<in><week_of><wday>(?:<dm>|<md>)(?:<oy><full_year>)?"),
    Rule("week", r"<in>(?:<week_number><week_no>(?:<oy><year>)?|<week_named><week_no2><oy><year2>)"),
    Rule("date_range", r"<from><the><day><th>(?: ?<of><any_month>\.?)?(?:<oy><full_year>)? ?<to> ?<the><day2><th> ?<of><any_month2>\.?(?:<oy><full_year2>)?", proper=True),
    Rule("date_range", r"<from><any_month>\.? <day><th>(?:<oy><full_year>)? ?<to> ?(?:<any_month2>\.? )?<the><day2><th>(?:<oy><full_year2>)<not_counted>", proper=True),
    Rule("date", r"<on><wday>(?:<dm>|<md>)<oy><full_year>"),
    Rule("date", r"<on><wday><md>,? <clock>,? ?<full_year>"),
    Rule("date", r"<full_year>,? <on>(?:<dm>|<md>)"),
    Rule("date", r"<on_sure><wday><dm><not_counted>"),
    Rule("date", r"<on><wday><dm><not_counted>", proper=True),
    Rule("date", r"<numeric_on><wday><day>(?:/<month_number>(?!/)|\.<month_number2>\.)"),
    Rule("day_of_unit", r"<on><the><day><th> <of_sure><month_moved>"),
    Rule("day_of_month", r"<day_on><day><th><day_end>"),
    Rule("nth", r"<in><the><ordinal> (?:<unit_of_month>|<weekday><weekday_end>) <of_sure><any_month>\.?(?:<oy><year>)?"),
    Rule("month_range", r"<from><month>(?:<oy><year>)? ?<to> ?<month2><oy><year2>", proper=True),
    Rule("month_range", r"<from_sure>(?:<part><part_of>)?<month> ?<to> ?(?:<part2><part_of>)?<month2><no_day>"),
    Rule("month", r"<in><the>(?:<part><part_of>)?<any_month>\.?<oy><year>"),
    Rule("month", r"<in><the>(?:<part><part_of>)?<month>,? <of_year><year_moved>", "year"),
    Rule("month", r"<in><month_name_moved><no_day>", proper=True),
    Rule("month", r"(?:<in><the><part><part_of>|<month_on>)<month><no_day><month_end>"),
    Rule("weekday", r"<on><weekday><weekday_end>,? <of_week><week_moved>", "week"),
    Rule("weekday", r"<at><week_moved>,? <on><weekday><weekday_end>", "week"),
    Rule("weekday", r"<on><weekday_moved><daytime>", proper=True),
    Rule("weekday", r"<on_sure><any_weekday><weekday_end><daytime>", proper=True),
    Rule("weekday", r"<on><alone_before><weekday><daytime><alone_behind>", proper=True),
    Rule("weekday", r"<any_weekday>\.?,? <clock>"),
    Rule("day", r"<day_word><daytime>"),
    Rule("distance", r"<ago_before><about>(?:<amount>|<digits><short_unit>)(?:<ago_behind>)?|<about>(?:<amount>|<digits2><short_unit2>)<ago_behind>(?: <exact>)?", "past", -1),
    Rule("distance", r"<sure_before><about><amount>|<about><amount><sure_behind>", "next", 1),
    Rule("distance", r"<in_before><about><amount><in_end>", shift=1),
    Rule("rolling", r"<span>(?:<before><join><count> <unit>|<count2> (?:<behind> <unit>|<unit> <behind>))"),
    Rule("part_of_unit", r"<in><the><part><part_of><unit_moved>", "year"),
    Rule("weekend", r"<weekend_near>"),
    Rule("unit", r"<at><unit_moved>", "year"),
    Rule("season", r"<in><the>(?:<part><part_of>)?<season><oy><year>"),
    Rule("season", r"<in><the><season> <of_year><year_moved>", "year"),
    Rule("season", r"<in><the>(?:<part><part_of>)?<season_moved>"),
    Rule("season", r"<season_on>(?:<part><part_of>)?<season>"),
    Rule("quarter", r"<in><the>(?:[tq]<quarter>|<ordinal> <period>|<quarter2><nth> <period>)<oy>'?<year>"),
    Rule("quarter", r"<in><year>[ -]?q<quarter>"),
    Rule("quarter", r"<in><the>(?:[tq]<quarter>|<ordinal> <period>) <of_year><year_moved>", "year"),
    Rule("holiday", r"<in><holiday><oy><year>"),
    Rule("holiday", r"<in><holiday_moved>"),
    Rule("holiday", r"<holiday_on><holiday>"),
    Rule("year_range", r"<from><year> ?<to> ?<the><year2>"),
    Rule("year", r"<in><the><part><part_of><year_word><year>"),
    Rule("year", r"<year_on><year><year_end>"),
    Rule("decade", r"<in><the>(?:<part><part_of>)?<decades>"),
)

#: Pieces of languages without spaces. The year that is counted from now (去年) is a word of its own.
UNSPACED_PIECES = {
    "chain": r"(?:<n>) ?(?:<unit>)(?:[,，、 ]*(?:<n2>) ?(?:<unit2>))*",
    "amount": r"(?:<few>|<vague> ?<unit>|<half><unit>|<native>|<chain>)",
    "count": r"(?:<vague>|<n>)", "few": _NONE, "half": _NONE, "native": _NONE,
    "week_moved": r"<weeks>", "month_moved": r"<months>", "year_moved": r"<years>",
    "weekend_moved": _NONE, "quarter_moved": _NONE,
    "no": "", "to": _NONE, "the_week": _NONE, "in_week": "<weekday_alone>", "month_part": "<no><part>",
    "about": "", "ago": _NONE, "later": _NONE, "recent": _NONE, "coming": _NONE, "month_end": "", "year_end": "",
    "weekend_near": _NONE, "quarters": _NONE, "bc": _NONE, "every": _NONE, "habit": _NONE, "century": "",
}

UNSPACED = (
    Rule("nothing", r"<bc>"),
    Rule("nothing", r"<every>"),
    Rule("nothing", r"<habit>"),
    Rule("nothing", r"<weekday_alone><to><weekday_alone2>"),
    Rule("week_of", r"(?:<year_of> ?)?<month_of> ?<day_of><the_week>"),
    Rule("date_range", r"(?:<year_of> ?)?<month_of> ?<day_of><to>(?:<month_of2> ?)?<day_of2>"),
    Rule("date", r"<year_of> ?<month_of> ?<day_of>"),
    Rule("date", r"<year_moved><no><month_of> ?<day_of>", "year"),
    Rule("date", r"<month_of> ?<day_of>"),
    Rule("month", r"<year_of><no><month_of><month_part>?<month_end>"),
    Rule("month", r"<year_moved><no><month_of><month_part>?<month_end>", "year"),
    Rule("month", r"<before><month_of>"),
    Rule("month", r"<month_of><month_part>?<month_end>"),
    Rule("weekday", r"<week_moved><no><in_week>", "week"),
    Rule("weekday", r"<before><weekday_alone>"),
    Rule("weekday", r"<weekday_alone>"),
    Rule("day", r"<day_word>"),
    Rule("distance", r"<about><amount><ago>", "past", -1),
    Rule("distance", r"<about><amount><later>", shift=1),
    Rule("rolling", r"<recent><count> ?<unit>", shift=-1),
    Rule("rolling", r"<coming><count> ?<unit>", shift=1),
    Rule("unit", r"<weekend_moved>", "year", unit="weekend"),
    Rule("weekend", r"<weekend_near>"),
    Rule("unit", r"<week_moved>", "year", unit="week"),
    Rule("part_of_unit", r"<month_moved><month_part>", "year", unit="month"),
    Rule("unit", r"<month_moved>", "year", unit="month"),
    Rule("unit", r"<quarter_moved>", "year", unit="quarter"),
    Rule("season", r"<year_of><no><season>"),
    Rule("season", r"<year_moved><no><season>", "year"),
    Rule("season", r"<before><season>"),
    Rule("quarter", r"<year_of><no><quarters>"),
    Rule("quarter", r"<year_moved><no><quarters>", "year"),
    Rule("part_of_unit", r"<year_moved><month_part>", "year", unit="year"),
    Rule("unit", r"<year_moved>", "year", unit="year"),
    Rule("decade", r"<century>(?:<decade>|<short_decade>|<decade_word>)<decade_mark><month_part>?"),
    Rule("year", r"<year_of><month_part>?<year_end>"),
)
