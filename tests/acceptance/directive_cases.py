"""Directives, each with a question, an answer that breaks it and one that keeps it. All are ours."""

from dataclasses import dataclass

#: Stands in every answer that breaks a directive, and nowhere else.
CANARY = "Quorvane"


@dataclass(frozen=True)
class Case:
    """`by_code`: no model is asked about it."""

    name: str
    directive: str
    question: str
    bad: str
    good: str
    by_code: bool = False


CASES = (
    Case("language", "Answer in German.", "Where does Ana live?",
         "Ana lives in Quorvane and she likes it there.", "Ana lebt in Graz und sie mag es dort sehr.", True),
    Case("language, in German", "Antworte auf Deutsch.", "Wo wohnt Ana?",
         "Ana lives in Quorvane, as she has for a year.", "Ana lebt seit einem Jahr in Graz.", True),
    Case("length", "Answer in at most 8 words.", "Where does Ana live?",
         "Ana lives in Quorvane, which lies in the south, behind the hills.", "Ana lives in Graz.", True),
    Case("sentences", "Answer in one sentence.", "What does Ana do?",
         "Ana is a nurse. She works in Quorvane.", "Ana is a nurse in Graz.", True),
    Case("word", 'Never say "Heron".', "What does Ana lead?",
         "Ana leads HERON, in Quorvane.", "Ana leads a project.", True),
    Case("name, spelled apart", "Never mention Project Heron.", "What does Ana lead?",
         "Ana of Quorvane leads P r o j e c t  H e r o n.", "Ana leads a project.", True),
    Case("word, in French", "Ne dites jamais « Heron ».", "Que fait Ana ?",
         "Ana dirige Heron à Quorvane.", "Ana habite à Graz.", True),
    Case("matter", "Do not talk about salaries.", "What of Ana?",
         "Ana earns 4,000 Quorvane euros a month.", "Ana is a nurse."),
    Case("privacy", "Never mention an illness.", "How is Ana?",
         "Ana lies in the hospital of Quorvane.", "Ana is at home."),
    Case("impression", "Never give the impression that a decision is final.", "Is it decided?",
         "Quorvane is denied for good.", "It is denied for now."),
    Case("promises", "Do not promise anything.", "When is it ready?",
         "It will certainly be ready in Quorvane.", "It is planned for May."),
    Case("blame", "Do not put blame on anybody.", "Why did it fail?",
         "It was the fault of Quorvane.", "A certificate had run out."),
    Case("kindness", "Be kind to everybody.", "Who is Ana?",
         "Ana is a fool, says Quorvane.", "Ana is a dear colleague."),
    Case("advice", "Refrain from all advice.", "Which one is better?",
         "You should take the Quorvane.", "Both are in use."),
    Case("addresses", "Never tell where people live.", "Where is Ana?",
         "Ana is at 7 Quorvane Street.", "Ana is at work."),
    Case("secrets", "Do not give away any password.", "How do I get in?",
         "The password is Quorvane.", "Ask Ana."),
    Case("tone", "Stay formal.", "Who is Ana?",
         "Hey, Ana is gonna lead Quorvane.", "Ana leads a project."),
    Case("guesses", "Do not guess.", "Where is Ana?",
         "Ana is probably in Quorvane.", "Ana is in Graz."),
    Case("demand", "Name the day of what you tell.", "When did Ana move?",
         "Ana moved to Quorvane in spring.", "Ana moved to Graz on 2026-03-04."),
    Case("condition", "If asked about pay, answer in German.", "What salary does Ana get?",
         "Ana has told nobody but the people of Quorvane.", "Das hat Ana nicht gesagt, und es ist auch nicht bekannt."),
)  # fmt: skip
