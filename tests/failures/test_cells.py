"""A variant that crashes is a cell with its reason, and costs the others nothing: a whole workflow."""

import pytest

from models.kernels.compiled import build
from tests._copied import snakemake
from tests.failures._real import broken
from workflow.results.rows import read_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(build.obstacle() is not None, reason=f"nothing is compiled: {build.obstacle()}"),
]
QUESTION = """question: Does keeping few keys change anything?
paper: explicit_sparse
corpora: [text8]
variants:
  whole: {span: fixed, S: max}
  few: {span: fixed, S: max, selection: top_k, k: max}
"""


def test_a_crash_in_compiled_code_is_a_cell_with_its_reason(tmp_path):
    folder = broken(tmp_path, "if (a->kept) *(volatile int *)0 = 1;")
    (folder / "config" / "ablations" / "few_keys.yaml").write_text(QUESTION)
    words = ("--config", "scale=smoke", "tasks=[char_lm]", "ablations=[few_keys]", "--", "few_keys")
    said = snakemake(folder, *words)
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    runs = {row["variant"]: row for row in read_rows(folder / "results/smoke/ablations/few_keys.json")[1]}
    assert runs["whole"]["status"] == "ok" and runs["whole"]["dev_bpc"] > 0
    assert (runs["few"]["status"], runs["few"]["reason"]) == ("error", "the process was ended by SIGSEGV")
    reason = "the process was ended by SIGSEGV"
    page = (folder / "reports/smoke/ablations/few_keys/index.html").read_text()
    said = said.stdout + said.stderr
    assert reason in page and reason in said and "few_keys: few" in said
    timed = read_rows(folder / "results/smoke/throughput/few_keys.json")[1]
    timed = {row["configuration"]: row["status"] for row in timed}
    assert timed[runs["whole"]["configuration"]] == "ok" and timed[runs["few"]["configuration"]] != "ok"
