"""Write the formulas of docstrings, which are plain text, as MathML.

What is read: `p_i = exp(z_i) / sum_j exp(z_j)`. A fraction has all factors before its `/` above it,
and one below it; words of two or more letters are prose, unless they are Greek or known names.
Three spaces end a formula, and another follows in the same line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from workflow.results.numbers import MINUS

GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "omega": "ω",
}
# words that are no prose where they stand alone; one before a bracket never is
NAMES = frozenset({"score", "kept", "loss", "log", "ln", "sqrt", "exp"})
WIDTHS = {"dk", "dv", "dh"}  # of a head: the second letter is an index
SIGNS = {
    "-": MINUS,
    "->": "→",
    ">=": "≥",
    "<=": "≤",
    "*": "·",
    "..": "…",
}
GAP = re.compile(r"\s{3,}")
TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<phrase>[A-Za-z]{2,}'[a-z]+|[A-Za-z]+(?:-[A-Za-z]{2,})+)  # Newton's, k-th
    | (?P<name>[A-Za-z]+'?)
    | (?P<dot>(?<=\s)\.(?=\s))
    | (?P<sign>->|>=|<=|\+=|\.\.|.)
    """,
    re.VERBOSE,
)
CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|"}
BEGINS = re.compile(r"[A-Za-z]\w*'?(\([\w, ]+\))? (=|\+=|->) ")  # a formula, by its left side
MATH = '<math displaystyle="true">'
BETWEEN = " \N{EM SPACE} "  # two formulas of a line
THIN = '<mspace width="0.17em"/>'
LONGEST = 300  # characters of what is read as a formula
DEEPEST = 20  # brackets within each other


class Unreadable(ValueError):
    """The text is no formula: a bracket does not close, or an operator has nothing after it."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of a docstring. lines: of a formula, as MathML; none of prose. text: as it is."""

    text: str
    lines: tuple[Markup, ...] = ()


def paragraphs_of(docstring: str) -> list[Paragraph]:
    """Split a docstring into prose and formulas.

    A formula is an indented paragraph, or one line that begins as `p_i = `.
    """
    found = []
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        if not block.strip():
            continue
        lines = block.splitlines()
        head, gap, rest = lines[0].strip().partition("    ")
        is_mixed = len(lines) == 1 and gap and BEGINS.match(rest.strip())
        is_indented = all(line.startswith("    ") for line in lines)
        if is_indented or (len(lines) == 1 and BEGINS.match(block)):
            found.append(Paragraph(block, tuple(map(write_line, _whole(lines)))))
        elif is_mixed:
            found += [Paragraph(head), Paragraph(rest.strip(), (write_line(rest.strip()),))]
        else:
            prose = " ".join(block.split())
            found.append(Paragraph(prose.replace("`", "")))
    return found


def _whole(lines: Iterable[str]) -> list[str]:
    """Join a line that has no relation to the one before it, which it continues."""
    whole: list[str] = []
    for line in map(str.strip, lines):
        if whole and not re.search(r" (=|\+=|->) ", line):
            whole[-1] += f" {line}"
        else:
            whole.append(line)
    return whole


def write_line(line: str) -> Markup:
    """Write a line of formulas as MathML, each of its own; as code where it is none."""
    written = []
    for part in GAP.split(line.strip()):
        try:
            if len(part) > LONGEST:
                raise Unreadable(part)
            whole = f"{MATH}{_Reader(part).read()}</math>"
            written.append(whole.replace(f"{MATH}</math>", "").strip())
        except Unreadable:
            written.append(f"<code>{escape(part)}</code>")
    return Markup(BETWEEN.join(written))


@dataclass(frozen=True)
class _Token:
    """kind: of `TOKEN`. gap: whether there is a space before it."""

    kind: str
    text: str
    gap: bool


@dataclass(frozen=True)
class _Node:
    """A part of a formula as MathML. inner: without its parentheses, if it has them."""

    text: str
    inner: str = ""

    @property
    def bare(self) -> str:
        return self.inner or self.text


def _tokens(text: str) -> Iterator[_Token]:
    gap = False
    for match in TOKEN.finditer(text):
        if match.lastgroup != "space":
            yield _Token(match.lastgroup, match.group(), gap)
        gap = match.lastgroup == "space"


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, text: str):
        self.tokens = list(_tokens(text))
        self.place = 0
        self.open: list[str] = []  # the closing brackets that are awaited, the innermost last

    def read(self) -> str:
        written = self._sequence()
        if self.place < len(self.tokens):
            raise Unreadable(self.tokens[self.place].text)
        return written

    def _peek(self, ahead: int = 0) -> _Token | None:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def _next(self) -> _Token:
        token = self._peek()
        if token is None:
            raise Unreadable("it ends too early")
        self.place += 1
        return token

    def _is(self, *texts: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "sign" and token.text in texts

    def _closes(self) -> bool:
        """Whether the next token ends the innermost bracket, or is a bracket that none began."""
        return bool(self.open) and self._is(self.open[-1]) or self._is(")", "]", "}")

    def _sequence(self) -> str:
        """Read products, signs and words up to the end, or to a closing bracket."""
        written = []
        is_prefix = True  # of a sign: there is nothing before it
        while self._peek() and not self._closes():
            if self._is_word():
                written.append(self._words())
                is_prefix = True
            elif self._is_factor():
                written.append(self._product())
                is_prefix = False
            else:
                written.append(self._sign(is_prefix))
                is_prefix = True
        return "".join(written)

    def _sign(self, is_prefix: bool) -> str:
        text = self._next().text
        form = ' form="prefix"' if is_prefix and text in "+-" else ""
        return f"<mo{form}>{escape(SIGNS.get(text, text))}</mo>"

    def _is_word(self) -> bool:
        """Whether the next token is prose; a name that is called, or has an index, is none."""
        token = self._peek()
        if token is None or token.kind not in ("phrase", "name"):
            return False
        if token.kind == "phrase":
            return True
        name = token.text
        is_known = name in GREEK or name in NAMES or name in WIDTHS or name in ("sum", "inf")
        if is_known or len(name.rstrip("'")) == 1 or _differential(name):
            return False
        after = self._peek(1)
        is_used = after is not None and not after.gap and after.text in ("(", "_")
        return not is_used

    def _words(self) -> str:
        """Read prose; outside all brackets it is no part of a formula, so that lines can break."""
        text = ""
        while self._is_word() or (text and self._is(",", ";")):
            token = self._next()
            text += f" {token.text}" if token.gap else token.text
        text = escape(text.strip())
        if self.open:
            return f"<mtext>&#160;{text}&#160;</mtext>"
        return f"</math> {text} {MATH}"

    def _is_factor(self) -> bool:
        token = self._peek()
        if token is None or self._is_word() or self._closes():
            return False
        return token.kind in ("number", "name") or self._is(*CLOSING)

    def _product(self) -> str:
        """Read factors and fractions."""
        found = [self._factor()]
        while True:
            token = self._peek()
            if self._is("/"):
                self._next()
                below = self._factor().bare
                above = found[0].bare if len(found) == 1 else _row(found)
                found = [_Node(f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>")]
            elif token is not None and token.kind == "dot":
                self._next()
                found += [_Node("<mo>·</mo>"), self._factor()]
            elif self._is_factor():
                found += [_Node(THIN), self._factor()]
            else:
                return _row(found)

    def _factor(self) -> _Node:
        """Read a name, number or bracket with its indices and powers."""
        node = self._primary()
        below = above = ""
        while self._is("_", "^"):
            if self._next().text == "_":
                below = self._script()
            else:
                above = self._script()
        if below and above:
            node = _Node(f"<msubsup><mrow>{node.text}</mrow>{below}{above}</msubsup>")
        elif below:
            node = _Node(f"<msub><mrow>{node.text}</mrow>{below}</msub>")
        elif above:
            node = _Node(f"<msup><mrow>{node.text}</mrow>{above}</msup>")
        return node

    def _script(self) -> str:
        if self._is("+", "-"):
            return self._sign(is_prefix=False)
        return f"<mrow>{self._primary().bare}</mrow>"

    def _primary(self) -> _Node:
        token = self._next()
        if token.kind == "number":
            return _Node(f"<mn>{token.text}</mn>")
        if token.kind == "name":
            return self._name(token.text)
        if token.kind == "sign" and token.text in CLOSING:
            return self._bracket(token.text)
        raise Unreadable(token.text)

    def _bracket(self, opening: str) -> _Node:
        closing = CLOSING[opening]
        if len(self.open) == DEEPEST:
            raise Unreadable(opening)
        self.open.append(closing)
        inner = self._sequence()
        if not self._is(closing):
            raise Unreadable(f"{opening} without {closing}")
        self._next()
        self.open.pop()
        if opening == "{":
            return _Node(f"<mrow>{inner}</mrow>")
        written = f"<mrow><mo>{opening}</mo>{inner}<mo>{closing}</mo></mrow>"
        return _Node(written, f"<mrow>{inner}</mrow>" if opening == "(" else "")

    def _name(self, name: str) -> _Node:
        if name == "sum":
            return self._sum()
        token = self._peek()
        is_called = token is not None and token.text == "(" and not token.gap
        if name == "sqrt" and is_called:
            self._next()
            return _Node(f"<msqrt>{self._bracket('(').bare}</msqrt>")
        written = _write_name(name)
        if is_called:
            self._next()
            written += f"<mo>&#8289;</mo>{self._bracket('(').text}"
        return _Node(f"<mrow>{written}</mrow>")

    def _sum(self) -> _Node:
        """Read a sum with its index and the factor that it is over."""
        sign = "<mo>∑</mo>"
        if self._is("_"):
            self._next()
            sign = f"<munder>{sign}{self._script()}</munder>"
        if not self._is_factor():
            return _Node(f"<mrow>{sign}</mrow>")
        return _Node(f"<mrow>{sign}{self._factor().text}</mrow>")


def _row(nodes: list[_Node]) -> str:
    return "".join(node.text for node in nodes)


def _differential(name: str) -> bool:
    """Whether a name is d before a variable: dz, dalpha."""
    return name.startswith("d") and (name[1:] in GREEK or len(name) == 2)


def _write_name(name: str) -> str:
    if name == "inf":
        return "<mn>∞</mn>"
    if name in WIDTHS:
        return f"<msub><mi>{name[0]}</mi><mi>{name[1]}</mi></msub>"
    if _differential(name):
        return f"<mi>d</mi>{_write_name(name[1:])}"
    letter = name.rstrip("'")
    written = f"<mi>{GREEK.get(letter, letter)}</mi>"
    return f"<msup>{written}<mo>′</mo></msup>" if name.endswith("'") else written
