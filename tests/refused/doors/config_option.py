"""`--config`, as people write it for `estimate`, and as the workflow hands it on to its scripts."""

from tests.refused._kind import Kind

PLAN = {"ATTENTION_CONFIG": "no JSON"}


def given(words: str, says: str) -> Kind:
    return Kind(f"cli.estimate --results . --config {words}", says)


KINDS = {
    "no value": given("scale", "--config scale: expected KEY=VALUE"),
    "no key": given("=smoke", "unknown key ''"),
    "an unknown key": given("scal=smoke", "unknown key 'scal': did you mean 'scale'?"),
    "an unknown scale": given("scale=smok", "unknown scale 'smok': did you mean 'smoke'?"),
    "a list that is not closed": given("papers=[aiayn", "--config papers=[aiayn: not YAML"),
    "code in a tag": given("scale=!!python/name:os.system", "python/name:os.system"),
    "a number": given("papers=3", "papers = 3: Input should be a valid list"),
    "a mapping": given("device={a:\0b}", "device = {'a': 'b'}: Input should be a valid string"),
    "as JSON: none": Kind("scripts.plan plan.json --config {", "config: truncated or not JSON"),
    "as JSON: a list": Kind("scripts.plan plan.json --config []", "config: []: Input should be a valid dictionary"),
    "as JSON: a number": Kind("scripts.plan plan.json --config 7", "config: 7: Input should be a valid dictionary"),
    "as JSON: an unknown key": Kind('scripts.plan plan.json --config {"scal":1}', "unknown key 'scal'"),
    "as JSON: in the environment": Kind("scripts.plan plan.json", "config: truncated or not JSON", environment=PLAN),
    "as JSON: of a table": Kind("scripts.runs_table models out.json --config {", "config: truncated or not JSON"),
}
