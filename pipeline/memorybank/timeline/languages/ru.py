"""Russian time expressions."""

# Tables are read by the line: one rule, one line.
# ruff: noqa: E501
# fmt: off

from memorybank.timeline.grammar import Language, Rule

RULES = (
    Rule("nothing", r"(?:в )?\d{1,5} (?:году? |год )?до н\. ?э\.?"),
    Rule("nothing", r"(?:кажд\w+|по|все) (?:<weekday>|<month>|<unit>|<season>|понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям)"),
    Rule("nothing", r"с <weekday> по <weekday2>"),
    Rule("date_range", r"(?:с )?<day>(?: <month>)? ?(?:по|до|-|–) ?<day2> <month2>(?: <year>)?(?: года?)?"),
    Rule("date", r"<day>(?:-го)? <any_month>\.? <year>(?: (?:года?|г\.))?"),
    Rule("date", r"<day>(?:-го)? <any_month>"),
    Rule("month", r"(?:в |с |до |к )?(?:<part> )?<any_month> <year>(?: (?:года?|г\.))?"),
    Rule("month", r"(?:в |с |до )?(?:<part> )?<month> прошлого года", "year", -1),
    Rule("month", r"(?:в |с |до )?(?:<part> )?<month> этого года", "year", 0),
    Rule("month", r"(?:в |с |до )?(?:<part> )?<month> следующего года", "year", 1),
    Rule("month", r"(?:в )?прошл\w+ <month>", "past"),
    Rule("month", r"(?:в )?следующ\w+ <month>", "next"),
    Rule("month", r"(?:в|с|до|<part>) <month>"),
    Rule("weekday", r"(?:во? )?<weekday> на прошлой неделе", "week", -1),
    Rule("weekday", r"(?:во? )?<weekday> на следующей неделе", "week", 1),
    Rule("weekday", r"(?:во? )?<weekday> на этой неделе", "week", 0),
    Rule("weekday", r"(?:во? )?(?:прошл\w+|минувш\w+) <weekday>", "past"),
    Rule("weekday", r"(?:во? )?(?:следующ\w+|ближайш\w+) <weekday>", "next"),
    Rule("weekday", r"(?:во? )?эт\w+ <weekday>", "this"),
    Rule("weekday", r"(?:во?|с|до) <weekday>"),
    Rule("day", r"позавчера", shift=-2),
    Rule("day", r"послезавтра", shift=2),
    Rule("day", r"вчера<daytime>|прошлой ночью", shift=-1),
    Rule("day", r"сегодня<daytime>|этим утром|этим вечером", shift=0),
    Rule("day", r"завтра<daytime>", shift=1),
    Rule("vague", r"<vague> <unit> (?:тому )?назад", shift=-1),
    Rule("vague", r"через <vague> <unit>", shift=1),
    Rule("half", r"пол<half_unit> назад", shift=-1),
    Rule("distance", r"(?:<n> )?<unit> (?:тому )?назад", "past", -1),
    Rule("distance", r"через (?:<n> )?<unit>", "next", 1),
    Rule("rolling", r"(?:за )?последн\w+ (?:<vague>|<n>) <unit>", shift=-1),
    Rule("unit", r"(?:на |в )?позапрошл\w+ <unit>", "year", -2),
    Rule("unit", r"(?:на |в )?прошл\w+ <unit>", "year", -1),
    Rule("unit", r"(?:на |в )?следующ\w+ <unit>", "year", 1),
    Rule("unit", r"(?:на |в )?эт\w+ (?!выход)<unit>", "year", 0),
    Rule("unit", r"(?:на|в)(?: эти)? выходн\w+", "near", 0, "weekend"),
    Rule("season", r"<season> <year>(?: года?)?"),
    Rule("season", r"прошл\w+ <season>", "past"),
    Rule("season", r"следующ\w+ <season>", "next"),
    Rule("season", r"эт\w+ <season>", "this"),
    Rule("season", r"<season_when>"),
    Rule("quarter", r"(?:в )?<quarter>(?:-м|-й|-ом)? квартал[еа]? <year>(?: года?)?"),
    Rule("year_range", r"(?:с |в )?<year> ?(?:по|до|-|–) ?<year2>(?: год\w*)?"),
    Rule("year", r"(?:во? |с |до )?(?:<part> )?<year> (?:году?|года|г\.)"),
    Rule("year", r"(?:в|с|до|<part>) <year>(?! (?:рубл|метр|человек))"),
    Rule("decade", r"(?:в )?<any_decade>-?(?:х|е)(?: год\w*)?"),
)

RUSSIAN = Language(
    code="ru",
    rules=RULES,
    months={
        "январь": 1, "января": 1, "январе": 1, "февраль": 2, "февраля": 2, "феврале": 2, "март": 3, "марта": 3,
        "марте": 3, "апрель": 4, "апреля": 4, "апреле": 4, "май": 5, "мая": 5, "мае": 5, "июнь": 6, "июня": 6,
        "июне": 6, "июль": 7, "июля": 7, "июле": 7, "август": 8, "августа": 8, "августе": 8, "сентябрь": 9,
        "сентября": 9, "сентябре": 9, "октябрь": 10, "октября": 10, "октябре": 10, "ноябрь": 11, "ноября": 11,
        "ноябре": 11, "декабрь": 12, "декабря": 12, "декабре": 12,
    },
    short_months={
        "янв": 1, "фев": 2, "мар": 3, "апр": 4, "июн": 6, "июл": 7, "авг": 8, "сен": 9, "окт": 10, "ноя": 11, "дек": 12,
    },
    weekdays={
        "понедельник": 0, "понедельника": 0, "вторник": 1, "вторника": 1, "среда": 2, "среду": 2, "среды": 2,
        "четверг": 3, "четверга": 3, "пятница": 4, "пятницу": 4, "пятницы": 4, "суббота": 5, "субботу": 5,
        "субботы": 5, "воскресенье": 6, "воскресенья": 6,
    },
    units={
        "секунд": "second", "секунду": "second", "секунды": "second", "минуту": "minute", "минуты": "minute",
        "минут": "minute", "час": "hour", "часа": "hour", "часов": "hour", "день": "day", "дня": "day", "дней": "day",
        "неделя": "week", "неделю": "week", "недели": "week", "недель": "week", "неделе": "week", "выходные": "weekend",
        "выходных": "weekend", "месяц": "month", "месяца": "month", "месяцев": "month", "месяце": "month",
        "квартал": "quarter", "квартале": "quarter", "год": "year", "года": "year", "году": "year", "лет": "year",
    },
    seasons={
        "весной": "spring", "летом": "summer", "осенью": "autumn", "зимой": "winter", "весна": "spring",
        "лето": "summer", "осень": "autumn", "зима": "winter",
    },
    parts={"начале": 0, "в начале": 0, "середине": 1, "в середине": 1, "конце": 2, "в конце": 2},
    numbers={
        "один": 1, "одну": 1, "два": 2, "две": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7,
        "восемь": 8, "девять": 9, "десять": 10, "двадцать": 20,
    },
    vague={"несколько": (2, 5), "пару": (2, 3), "пара": (2, 3)},
    macros={"daytime": r"(?: (?:утром|днем|вечером|ночью))?"},
    extra={
        "half_unit": ("unit", "года"),
        "season_when": ("season", "весной|летом|осенью|зимой"),
        "any_decade": ("decade", "(?:1[0-9]|20)[0-9]0|[5-9]0"),
    },
    words="вчера позавчера сегодня завтра послезавтра ночью утром вечером х е полгода",
    future=r"\b(?:буд\w+|собира\w+|план\w+|скоро|через)\b",
    past=r"\b(?:был\w*|\w{3,}(?:ал|ала|али|ил|ила|или|ел|ела|ели|ался|алась|ались|ился|илась|шли|шел|шла)|назад|прошл\w+)\b",
    begun="с",
)
