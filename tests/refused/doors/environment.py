"""Variables of the environment."""

from tests._jobs import job
from tests.refused._kind import Kind

PLAN = "scripts.plan plan.json"
FETCHED = "scripts.corpus tinyshakespeare out.npz"


def kind(command: str, says: str, files: dict | None = None, **variables: str) -> Kind:
    return Kind(command, says, files or {}, environment=variables)


KINDS = {
    "ATTENTION_CONFIG: no JSON": kind(PLAN, "config: truncated or not JSON", ATTENTION_CONFIG="scale: smoke"),
    "ATTENTION_CONFIG: an unknown key": kind(PLAN, "unknown key 'scal'", ATTENTION_CONFIG='{"scal": "smoke"}'),
    "ATTENTION_CONFIG: an unknown scale": kind(PLAN, "unknown scale 'smok'", ATTENTION_CONFIG='{"scale": "smok"}'),
    "ATTENTION_CONFIG: of a table": kind("scripts.runs_table models a.json", "config: 3", ATTENTION_CONFIG="3"),
    "ATTENTION_DATA_DIR: not there": kind(PLAN, "data_dir 'none': no such folder", ATTENTION_DATA_DIR="none"),
    "ATTENTION_DATA_DIR: a file": kind(PLAN, "data_dir 'a': no such folder", {"a": ""}, ATTENTION_DATA_DIR="a"),
    "ATTENTION_DATA_DIR: nobody's": kind(PLAN, "~nobody-here: no such home", ATTENTION_DATA_DIR="~nobody-here"),
    "XDG_CACHE_HOME: a file": kind(FETCHED, "Not a directory", {"a": ""}, XDG_CACHE_HOME="HERE/a"),
    "XDG_CACHE_HOME: below a file": kind(FETCHED, "a/b", {"a": ""}, XDG_CACHE_HOME="HERE/a/b"),
    "TMPDIR: a file": kind(
        "scripts.train job.json --data none.npz --device cpu",
        "none.npz",
        {"job.json": job().canonical(), "a": ""},
        TMPDIR="a",
    ),
}
