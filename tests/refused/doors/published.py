"""What the papers print, and which changes of source were accepted: files of the project's own."""

from tests.refused._kind import Kind
from workflow.plan import sources

NUMBER = {"id": "a.b", "where": "c", "row": "d", "column": "e", "value": 1, "unit": "", "kind": "trained"}
PAPER = {"paper": "adaptive_span", "title": "A", "values": [NUMBER]}
COMMAND = "scripts.claims formulas out.json"
CHANGE = {"file": "a.py", "was": "0" * 12, "now": "1" * 12, "why": "a comment"}
FILE = "models/attention/spans/full.py"


def paper(says: str, content: object) -> Kind:
    return Kind(COMMAND, says, {"config/published/adaptive_span.yaml": content})


def number(says: str, **changes) -> Kind:
    return paper(says, {**PAPER, "values": [{**NUMBER, **changes}]})


def accepted(says: str, content: object) -> Kind:
    command = f"cli.accept {FILE} --why because --was {'2' * 12} --runs runs"
    return Kind(command, says, {"accepted.yaml": content}, patches=((sources, "ACCEPTED", "accepted.yaml"),))


def formula(says: str, **changes) -> Kind:
    kind = paper(says, PAPER)
    entry = {"formula": "mac", "inputs": {}, **changes}
    kind.files["config/published/analytic.yaml"] = {"recomputed": {"a.b": entry}}
    return kind


KINDS = {
    "a list": paper("expected keys with values", [PAPER]),
    "an unknown key": paper("unknown key 'vals': did you mean 'values'?", {**PAPER, "vals": []}),
    "a number twice": paper("id 'a.b' appears twice", {**PAPER, "values": [NUMBER, NUMBER]}),
    "a number of no kind": number("kind = 'mean'", kind="mean"),
    "a number without end": number("value", value=float("inf")),
    "a number with an unknown key": number("unknown key 'uni': did you mean 'unit'?", uni="x"),
    "an unknown formula": formula("unknown formula 'produt'", formula="produt"),
    "a formula of other inputs": formula("unknown input of", inputs={"nn": 3}),
    "a formula of no number": formula("inputs.n = 'x': Input should be a valid number", inputs={"n": "x"}),
    "an accepted change without a reason": accepted("changes.0.why", {"changes": [{**CHANGE, "why": ""}]}),
    "an accepted change of no digest": accepted(
        "changes.0.was = 'x': String should match", {"changes": [{**CHANGE, "was": "x"}]}
    ),
    "accepted changes that are a list": accepted("expected keys with values", [CHANGE]),
}
