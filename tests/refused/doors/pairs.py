"""A parallel text of the user's own, `pairs:SRC,TGT`."""

from tests.refused._kind import Kind

LINES = "".join(f"line {n} of some words\n" for n in range(40))


def kind(says: str, source: object = LINES, target: object = LINES, words: str = "pairs:a.de,a.en") -> Kind:
    return Kind(f"scripts.corpus {words} out.npz", says, {"a.de": source, "a.en": target})


KINDS = {
    "one file": kind("expected two files with a comma between them", words="pairs:a.de"),
    "three files": kind("expected two files with a comma between them", words="pairs:a.de,a.en,b"),
    "not there": kind("none.en: no such file", words="pairs:a.de,none.en"),
    "other numbers of lines": kind("a.de has 40 lines and a.en has 41 lines", target=LINES + "more\n"),
    "two lines": kind("2 lines are too few to split", "a\nb\n", "a\nb\n"),
    "an empty line": kind("a.en, line 41: empty", LINES + "a\n", LINES + "\n"),
    "no text": kind("a.de, line 2: byte 0xff at offset 2", b"a\n\xff\n"),
    "empty": kind("the file is empty", ""),
    "more characters than pieces": kind(
        "is too small", "".join(f"{chr(0x4E00 + n)}\n" for n in range(9000)), "x\n" * 9000
    ),
    "lines of nothing but blanks": kind("empty; every line must hold a sentence", " \n" * 40),
}
