"""Guards: loops, endless texts, repeats, sentences of the prompt."""

from memorybank.text.guards import MAX_FACT_CHARS, cut, echoes, loops, unlooped

PROSE = (
    "Ines prefers aisle seats on long flights because she likes to walk around, and she told the agency in Lisbon "
    "twice that any booking with a middle seat will be sent back. The agency now keeps a note in her file, and the "
    "clerk who books for her, Tomas Varga, calls before he confirms anything that departs after nine in the evening."
)


def test_a_sentence_said_over_and_over_is_said_once() -> None:
    assert unlooped("same reason as before. " * 900) == "same reason as before."
    assert unlooped(PROSE) == PROSE


def test_what_still_loops_is_nothing() -> None:
    assert unlooped("buzz " * 60_000) == ""
    assert unlooped("ha" * 400) == ""


def test_prose_and_short_texts_do_not_loop() -> None:
    assert not loops(PROSE)
    assert not loops("no no no no no no no")
    assert loops("字" * 200)
    assert not loops("\u202e" * 1000 + "Ana lives in Graz.")


def test_a_long_text_is_cut_at_a_word() -> None:
    assert cut("word " * 1000).endswith("word")
    assert len(cut("x" * 5000)) == MAX_FACT_CHARS
    assert cut("short") == "short"


def test_a_sentence_of_the_prompt_is_an_echo_unless_the_text_says_it() -> None:
    prompt = 'Example: {"what": "Tavrith moved to Port Zundelmoor"}'
    assert echoes("Tavrith moved to Port Zundelmoor.", prompt, "Ada: hello")
    assert not echoes(
        "Tavrith moved to Port Zundelmoor", prompt, "He said: tavrith moved to port zundelmoor."
    )
    assert not echoes("Tavrith", prompt, "")
