"""English time expressions."""

# Tables are read by the line: one rule, one line.
# ruff: noqa: E501
# fmt: off

from memorybank.timeline.grammar import Language, Rule

_TH = "(?:st|nd|rd|th)?"
_NUMBER_NOUNS = (
    "(?! ?(?:people|persons?|words|steps|dollars|euros|pounds|bucks|times|points|miles|meters|metres|km|kg|grams|"
    "calories|users|copies|pages|items|units|votes|members|employees|jobs|years|days|hours|minutes|px|mb|gb|ml|degrees))"
)

_DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_COMPOUND = {
    f"{ten}{joint}{digit}": tens + at
    for ten, tens in _TENS.items()
    for joint in "- "
    for at, digit in enumerate(_DIGITS, 1)
}

RULES = (
    # What only looks like a time.
    Rule("nothing", r"(?:in |circa |c\. |around |since )?\d{1,5} ?(?:bce?\b|b\.c\.(?:e\.)?)"),
    Rule("nothing", r"(?:every|each|most|any|per|once an?|twice an?|times an?|black|good|ash|palm|easter|cyber|all) (?:other |single |second )?(?:<weekday>|<month>|<season>|<unit>)s?"),
    Rule("nothing", r"(?:on )?<any_weekday> ?(?:to|through|thru|till|until|-|–) ?<any_weekday2>"),
    Rule("nothing", r"(?:on |weekday )?<weekday>s"),
    Rule("nothing", r"(?:a|an|one|some|entire|whole) <weekday>"),
    Rule("nothing", r"<n>[- ]<unit>[- ]old"),
    Rule("nothing", r"the (?:last|first) (?:week|month|year|day|weekend|quarter) (?:of|at|in) (?!<any_month>|the |this |last |next |\d)\w+"),
    # Dates.
    Rule("date_range", r"(?:from |between )?<any_month>\.? <day><th> ?(?:-|–|—|to|through|thru|until|till|and) ?<any_month2>\.? <day2><th>(?:,? (?:of )?<year>)?", proper=True),
    Rule("date_range", r"(?:from |between )?(?:the )?<day><th> (?:of )?<any_month>\.? ?(?:-|–|—|to|through|thru|until|till|and) ?(?:the )?<day2><th> (?:of )?<any_month2>(?:,? <year>)?", proper=True),
    Rule("date_range", r"(?:on |from |between )?(?:the )?<day><th> ?(?:-|–|—|&|and|or|to|through|thru|until|till) ?(?:the )?<day2><th> (?:of )?<any_month>(?:\.?,? <year>)?", proper=True),
    Rule("date_range", r"(?:on |from |between )?<any_month>\.? <day><th> ?(?:-|–|—|&|and|or|to|through|thru|until|till) ?(?:the )?<day2><th>(?:,? (?:of )?<year>)?<not_counted>", proper=True),
    Rule("date", r"(?:on )?<wday>(?:the )?<day><th>[ -](?:day )?(?:of )?<any_month>(?:\.?,? ?(?:of )?|-)<year>"),
    Rule("date", r"(?:on )?<wday><any_month>\.? (?:the )?<day><th>,? ?(?:of )?<year>"),
    Rule("date", r"<year>,? <any_month>\.? <day><th>"),
    Rule("date", r"(?:on )<wday>(?:the )?<day><th> (?:day )?(?:of )?<any_month>\.?"),
    Rule("date", r"(?:on )<wday><any_month>\.? (?:the )?<day><th><not_counted>"),
    Rule("date", r"(?:(?:next|this|last) )?<wday>(?:the )?<day>(?:st|nd|rd|th) (?:day )?(?:of )?<any_month>\.?"),
    Rule("date", r"(?:(?:next|this|last) )?<wday><any_month>\.? (?:the )?<day>(?:st|nd|rd|th)"),
    Rule("date", r"<wday><day> <any_month>\.?", proper=True),
    Rule("date", r"(?:(?:next|this|last) )?<wday><any_month>\.? <day><not_counted>", proper=True),
    Rule("day_of_month", r"on (?:<any_weekday>,? )?the <day>(?:st|nd|rd|th)(?! (?:floor|try|day|time|attempt|street|avenue|of|grade|page|birthday|anniversary|century))"),
    # A week, weekend or weekday of a month.
    Rule("nth", r"(?:in |on |during )?(?:the )?<ordinal> <unit_of_month> (?:of|in) <any_month>(?:,? (?:of )?<year>)?"),
    Rule("nth", r"(?:on )?(?:the )?<ordinal> <weekday> (?:of|in) <any_month>(?:,? (?:of )?<year>)?"),
    # Months.
    Rule("month_range", r"(?:from |between )?<month> ?(?:to|through|thru|until|till|-|–|—|and) ?<month2>(?:,? (?:of )?<year>)", proper=True),
    Rule("month_range", r"(?:from|between) (?:late |early |mid[- ])?<month> (?:to|through|thru|until|till|and|-|–) (?:late |early |mid[- ])?<month2>"),
    Rule("month", r"(?:in |around |since )?(?:the )?(?:<part>[- ](?:of |in )?)?<any_month>\.?,? (?:of |in )?<year>"),
    Rule("month", r"(?:in |since |of )?(?:the )?(?:<part>[- ](?:of )?)?<month>,? (?:of )?(?:last|the previous|the past) year", "year", -1),
    Rule("month", r"(?:in |since |of )?(?:the )?(?:<part>[- ](?:of )?)?<month>,? (?:of )?this year", "year", 0),
    Rule("month", r"(?:in |of )?(?:the )?(?:<part>[- ](?:of )?)?<month>,? (?:of )?next year", "year", 1),
    Rule("month", r"(?:last year),? in <month>", "year", -1),
    Rule("month", r"(?:this past|last|past|the previous) <any_month><no_day>", "past", proper=True),
    Rule("month", r"(?:next|the coming|the upcoming|this coming) <any_month><no_day>", "next", proper=True),
    Rule("month", r"this <month><no_day>", "this", proper=True),
    Rule("month", r"(?:in |since |by |around )?(?:the )?<part>[- ](?:of |in )?<month><no_day>"),
    Rule("month", r"(?:back in|in|since|during|until|till|throughout|as of|month of) <month><no_day>"),
    Rule("month", r"in <any_month><no_day>", proper=True),
    Rule("month", r"(?:by|before|after|from|of|for|around) <sure_month><no_day>", proper=True),
    # Weekdays.
    Rule("weekday", r"(?:on )?<weekday>,? (?:of )?(?:the )?last week", "week", -1),
    Rule("weekday", r"last week,? on <weekday>", "week", -1),
    Rule("weekday", r"next week,? on <weekday>", "week", 1),
    Rule("weekday", r"(?:on )?<weekday>,? (?:of )?(?:the week after next)", "week", 2),
    Rule("weekday", r"(?:on )?<weekday>,? (?:of )?(?:the week before last)", "week", -2),
    Rule("weekday", r"(?:on )?<weekday>,? (?:of )?next week", "week", 1),
    Rule("weekday", r"(?:on )?<weekday>,? (?:of |earlier |later )?this week", "week", 0),
    Rule("weekday", r"(?:on )?(?:the )?<weekday> before last", "past", -1),
    Rule("weekday", r"(?:on )?(?:this |just )?(?:last|past|the previous|this past|the past) <any_weekday><daytime>", "past", proper=True),
    Rule("weekday", r"(?:on )?next <any_weekday><daytime>", "next", proper=True),
    Rule("weekday", r"(?:on )?(?:this|this coming|the coming|coming|upcoming|the upcoming) <any_weekday><daytime>", "this", proper=True),
    Rule("weekday", r"(?:on|by|until|till|since|before|after|for) <any_weekday><daytime>", proper=True),
    Rule("weekday", r"(?<![|*#_])(?<![|*#_] )<weekday><daytime>(?!\*{0,2}:)(?! (?:club|school|blues|night football))", proper=True),
    # Days.
    Rule("day", r"(?:the )?day before yesterday", shift=-2),
    Rule("day", r"(?:the )?day after tomorrow", shift=2),
    Rule("day", r"(?:just |only )?yesterday<daytime>|last (?:night|evening)", shift=-1),
    Rule("day", r"(?:today(?!\()|tonight|(?:earlier |later )today|this (?:very )?(?:morning|afternoon|evening))<daytime>", shift=0),
    Rule("day", r"tomorrow<daytime>", shift=1),
    # Distances.
    Rule("half", r"(?:about |around |over |nearly )?<n> (?:and a half <unit>|<unit> and a half) (?:ago|back)", shift=-1),
    Rule("half", r"(?:about |around |over |nearly )?half an? <unit> ago", shift=-1),
    Rule("vague", r"(?:just |only |about )?(?:<vague>) <unit> (?:ago|back)", shift=-1),
    Rule("vague", r"(?:in|within) (?:<vague>) <unit>(?:'? time)?", shift=1),
    Rule("vague", r"<vague> <unit> from now", "next", 1),
    Rule("nothing", r"<about><n> <unit>(?:,? (?:and )?<n2> <unit2>){2,} ago"),
    Rule("distance", r"<about><n> <unit>(?:,? and |, | )<n2> <unit2> (?:ago|back)", "past", -1),
    Rule("distance", r"<about>(?:<n>|the) ?<unit> ago(?: today| yesterday)?", "past", -1),
    Rule("distance", r"<about>(?:<n>) <unit> back", "past", -1),
    Rule("distance", r"(?:in )?<about><n> <unit> (?:from (?:now|today)|hence)", "next", 1),
    Rule("distance", r"(?:in )<about>(?:<n>|another) <unit>'?(?: time)?(?! or )", shift=1),
    # Whole units.
    Rule("unit", r"(?:in |on |during )?the <unit_ever> before last", "year", -2),
    Rule("unit", r"(?:in |on |during )?the <unit_ever> after next", "year", 2),
    Rule("rolling", r"<span_of>(?:the |these |this )?(?:last|past|previous) (?:<vague>|<n>) <unit>", shift=-1),
    Rule("rolling", r"<span_of>(?:the |these )?(?:next|coming|following) (?:<vague>|<n>) <unit>", shift=1),
    Rule("rolling", r"<span_of>(?:the |these )last <unit_long>", shift=-1),
    Rule("unit", r"<span_of>(?:the|this) past weekend", "year", -1, "weekend"),
    Rule("rolling", r"<span_of>(?:the|this) past <unit>", shift=-1),
    Rule("part_of_unit", r"(?:at |by |since |around |from )?(?:the )?<part>[- ](?:of )?last <unit_ever>", "year", -1),
    Rule("part_of_unit", r"(?:at |by |since |around |from )?(?:the )?<part>[- ](?:of )?(?:this|the) <unit_long>", "year", 0),
    Rule("part_of_unit", r"(?:at |by |around |from )?(?:the )?<part>[- ](?:of )?next <unit_ever>", "year", 1),
    Rule("unit", r"(?:all |just |only |late |early |over |during )?last <unit_ever>", "year", -1),
    Rule("unit", r"(?:earlier |later |all )?this <unit_long>", "year", 0),
    Rule("unit", r"(?:early |late |over |during )?(?:next|the coming|this coming|the upcoming) <unit_ever>", "year", 1),
    Rule("unit", r"(?:over |on |at |during |for )?(?:this|the) weekend", "near", 0, "weekend"),
    # Seasons, quarters, holidays.
    Rule("season", r"(?:in |during |over |since )?(?:the )?(?:<part>[- ](?:of )?)?<season>(?: of|,| in)? <year>"),
    Rule("season", r"(?:in |during |over )?(?:the )?<season> (?:of )?last year", "year", -1),
    Rule("season", r"(?:last|this past|past|the previous) <season>", "past"),
    Rule("season", r"(?:next|this coming|the coming) <season>", "next"),
    Rule("season", r"this <season>", "this"),
    Rule("season", r"(?:in|during|since) (?:<part>[- ](?:of )?)?<season>"),
    Rule("season", r"(?:in|during|over|since|until|by|for|around) the (?:<part>[- ](?:of )?)?(?:the )?<season>"),
    Rule("quarter", r"(?:in |during )?q<quarter>,? ?(?:of |in |')?<year>"),
    Rule("quarter", r"(?:in )?<year>[ -]?q<quarter>"),
    Rule("quarter", r"(?:in )?(?:the )?<quarter_word> quarter (?:of |in )?<year>"),
    Rule("quarter", r"(?:in|during|since|last) (?:the )?(?:q<quarter>|<quarter_word> quarter)(?! of| \d)"),
    Rule("holiday", r"(?:on |at |for |since )?<holiday>(?: day)?(?: of|,)? <year>"),
    Rule("holiday", r"(?:last|this past|past) <holiday>(?: day)?", "past"),
    Rule("holiday", r"next <holiday>(?: day)?", "next"),
    Rule("holiday", r"this <holiday>(?: day)?", "this"),
    Rule("holiday", r"(?:on|at|since|before|after|during|around|over|by|until) <holiday>(?: day)?(?! (?:tree|card|gift|present|party|song|movie|cookie|dinner|decoration|eve))"),
    # Years.
    Rule("year_range", r"(?:(?:in|from|between|during) )?<year> ?(?:-|–|—|to|until|through|and) ?<year2>"),
    Rule("year", r"(?:(?:back )?(?:in|since|during|from|by|until|till|before|after|around|circa|throughout|for) )?(?:the )?(?:<part>[- ](?:of |in )?)<year>"),
    Rule("year", r"(?:back )?(?:in|since|during|until|till|before|after|around|circa|throughout|year|class of)(?: the year)? <year><not_counted>"),
    Rule("year", r"(?:by|for|of|from|early|late) <recent_year><not_counted>"),
    Rule("year", r"in (?:the year )?<old_year>(?=$|[.,;:!?)]| (?:when|the|by|and|at|for|as|he|she|they|we|i)\b)"),
    Rule("year", r"the <recent_year>(?= [a-z])<not_counted>"),
    Rule("year", r"\(<year>\)"),
    Rule("decade", r"(?:(?:back )?(?:in|during|since|of|from) )?(?:the )?(?:<part>[- ])?<decade>'?s(?! ?(?:degrees|f\b|c\b))"),
    Rule("decade", r"(?:(?:back )?(?:in|during|since|of|from) )?the (?:<part>[- ])?'?<short_decade>s(?! ?(?:degrees|f\b|c\b))"),
)

ENGLISH = Language(
    code="en",
    rules=RULES,
    months={
        "January": 1, "February": 2, "March": 3, "April": 4, "May": 5, "June": 6, "July": 7, "August": 8,
        "September": 9, "October": 10, "November": 11, "December": 12,
    },
    short_months={
        "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Sept": 9, "Oct": 10,
        "Nov": 11, "Dec": 12,
    },
    weekdays={
        "Monday": 0, "Tuesday": 1, "Wednesday": 2, "Thursday": 3, "Friday": 4, "Saturday": 5, "Sunday": 6,
    },
    short_weekdays={
        "Mon": 0, "Tue": 1, "Tues": 1, "Wed": 2, "Weds": 2, "Thu": 3, "Thur": 3, "Thurs": 3, "Fri": 4, "Sat": 5,
        "Sun": 6,
    },
    units={
        "second": "second", "seconds": "second", "secs": "second", "minute": "minute", "minutes": "minute",
        "mins": "minute", "min": "minute", "hour": "hour", "hours": "hour", "hrs": "hour", "hr": "hour",
        "day": "day", "days": "day", "week": "week", "weeks": "week", "wks": "week", "weekend": "weekend",
        "weekends": "weekend", "fortnight": "fortnight", "fortnights": "fortnight", "month": "month",
        "months": "month", "quarter": "quarter", "quarters": "quarter", "year": "year", "years": "year",
        "yrs": "year", "decade": "decade", "decades": "decade", "century": "century", "centuries": "century",
    },
    seasons={"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"},
    parts={
        "early": 0, "beginning of": 0, "start of": 0, "mid": 1, "middle of": 1, "late": 2, "end of": 2,
    },
    numbers={
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
        **_COMPOUND,
        "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
        "sixty": 60, "ninety": 90, "hundred": 100, "a hundred": 100,
    },
    ordinals={
        "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "1st": 1, "2nd": 2, "3rd": 3,
        "4th": 4, "5th": 5,
    },
    vague={
        "a couple": (2, 3), "a couple of": (2, 3), "couple of": (2, 3), "couple": (2, 3), "a few": (2, 5), "few": (2, 5),
        "several": (3, 7), "some": (2, 7),
    },
    holidays={
        "Christmas": (12, 25), "Christmas Eve": (12, 24), "Boxing Day": (12, 26), "New Year's Eve": (12, 31),
        "New Year's Day": (1, 1), "Halloween": (10, 31), "Valentine's Day": (2, 14), "St. Patrick's Day": (3, 17),
        "Independence Day": (7, 4), "April Fools' Day": (4, 1),
    },
    macros={
        "th": _TH,
        "no_day": r"(?!,? (?:the )?\d)",
        "wday": r"(?:<any_weekday>\.?,? ?\(?)?",
        "not_counted": _NUMBER_NOUNS,
        "about": r"(?:(?:about|around|roughly|nearly|almost|over|more than|just|exactly|only|like|some) )?(?:a good )?",
        "daytime": r"(?:'s)?(?:,? (?:in the )?(?:early |late )?(?:morning|afternoon|evening|night|lunchtime|noon))?",
        "span_of": r"(?:(?:over|for|in|during|within|throughout) )?",
    },
    extra={
        # The other months are also words or names.
        "sure_month": ("month", "january|february|july|september|october|november|december"),
        "unit_of_month": ("unit", "week|weekend"),
        "unit_ever": ("unit", "week|weekend|month|quarter|year|decade|century|fortnight"),
        "unit_long": ("unit", "week|month|quarter|year|decade|century"),
        "quarter_word": ("ordinal", "first|second|third|fourth|1st|2nd|3rd|4th"),
    },
    words="yesterday today tonight tomorrow night morning afternoon evening bc bce b q1 q2 q3 q4",
    shaky="may march mar sat sun jan wed mon dec august",
    future=(
        r"\b(?:will|won't|shall|gonna|going to|'ll|let's|planning|plans? (?:to|for|on)|planned (?:to|for|on)|hop(?:e|ing) to|"
        r"(?:i|we|they) (?:start|begin|leave|fly|arrive|return|travel|open|launch|sign|move in|finish|graduate)|"
        r"looking forward|see you|upcoming|scheduled|rescheduled|postponed|due|booked|reserved|appointment|invited|which is|excited (?:for|about)|can't wait|deadline|remind me)\b|'ll\b"
    ),
    past=(
        r"\b(?:was(?! wondering)|were|had|did|didn't|wasn't|haven't|hasn't|hadn't|went|got|came|saw|met|made|took|bought|said|told|gave|found|left|felt|kept|"
        r"began|ran|won|lost|built|spent|ate|drank|wrote|spoke|flew|drove|sold|sent|brought|thought|taught|became|"
        r"held|knew|heard|paid|started|been|ago|last|yesterday|[a-z]{3,}(?<!e)ed)\b"
    ),
    likely=r"(?:\b(?:am|are|is)|'m|'re|'s) (?:\w+ )?\w{2,}ing\b|\b(?:should|could|would|can|want to|need to|have to|must|might)\b",
    begun="since",
    arranged=r"(?:moved|pushed|delayed|shifted|put off|brought forward|changed)\b[^.;!?]{0,60} to(?: the)?",
)
