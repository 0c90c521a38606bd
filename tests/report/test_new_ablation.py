"""An ablation of six lines gets a page that answers its question, with no Python written."""

import json

import pytest

from tests import _site
from tests._runs import label_of, run
from tests.report.test_pages import links
from workflow.config.errors import ConfigError
from workflow.config.strict import load_yaml, parse
from workflow.plan.ablations import Ablation, known_ablations, load_ablation
from workflow.plan.config import Config, load_config
from workflow.plan.plan import plan
from workflow.report.figures.colours import COLOURS, on_page
from workflow.results.record import write_record

SIX = """question: Does a longer ramp help an adaptive span?
paper: adaptive_span
corpora: [text8]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
  long: {span: {name: adaptive, ramp: 16}, S: max}
"""
BPC = {"short": (2.0, 2.1, 2.2), "long": (1.9, 2.0, 2.1)}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a config of one's own, the records of its runs and its page; the folder of the pages."""

    def write(name: str, text: str, rows: list[dict]):
        (tmp_path / "studies" / "own" / "questions").mkdir(parents=True)
        (tmp_path / "studies" / "own" / "questions" / f"{name}.yaml").write_text(text)
        monkeypatch.chdir(tmp_path)
        load_ablation.cache_clear()
        scale = tmp_path / "results" / _site.SCALE
        rows = [row | {"label": label_of(name, row["variant"])} for row in rows]
        _site.write_rows_of(scale, rows)
        for row in rows:
            write_record(tmp_path / "results" / "runs" / row["digest"] / "record.json", _site.record(row))
        _site.write_question(tmp_path, name)
        _site.write_report(tmp_path, name)
        return tmp_path / "reports" / _site.SCALE

    yield write
    load_ablation.cache_clear()


@pytest.fixture
def page(written):
    rows = [
        run("ramp", variant, seed, dev_bpc=bpc + seed / 1000 * (variant == "long"))
        for variant, scores in BPC.items()
        for seed, bpc in enumerate(scores, 1)
    ]
    place = written("ramp", SIX, rows) / "ablations" / "ramp" / "index.html"
    assert "ramp" in known_ablations() and len(SIX.splitlines()) == 6
    return place


NAMES = """question: Which of these is best?
paper: adaptive_span
corpora: [text8]
variants:
  fixed: {span: adaptive, S: max}
  xl: {span: dynamic, S: max}
  a1: {span: fixed, S: max}
  published: {span: fixed, normaliser: sparsemax, S: max}
  top_k: {label: "Mine, at last", colour: "#123456", span: full}
"""
ATTENTION = {"fixed": "adaptive", "xl": "dynamic", "a1": "fixed", "published": "fixed", "top_k": "full"}


def test_variants_are_shown_by_their_own_names_in_the_colours_of_their_attention(written):
    """Names that another question, or a figure, has for something else."""
    rows = [
        run("named", name, seed, span=span, dev_bpc=2.0 + place + seed / 10, macs_executed=1e4 * (1 + place))
        for place, (name, span) in enumerate(ATTENTION.items())
        for seed in (1, 2, 3)
    ]
    more = {"published": {"normaliser": "sparsemax"}, "top_k": {"colour": "#123456"}}
    site = written("named", NAMES, [row | more.get(row["variant"], {}) for row in rows])
    places = [site / "index.html", site / "pivot.html", *(site / "ablations" / "named").iterdir()]
    pages = [place.read_text().partition("<h2>Definition")[0] for place in places]
    for wrong in ("Transformer-XL", "heads / 8", "fixed span", "adaptive span", ">top_k<", "top-k<"):
        assert not [page for page in pages if wrong in page], wrong
    page = (site / "ablations" / "named" / "index.html").read_text()
    effect = page.partition("figure-answer-effect")[2].partition("</svg>")[0]
    assert all(f">{name}<" in effect for name in ("fixed", "xl", "a1", "published", "Mine, at last"))
    cells = json.loads((site / "pivot.html").read_text().partition('id="cells">')[2].partition("</script>")[0])
    of_kind = {"fixed": "adaptive", "xl": "dynamic", "a1": "fixed", "published": "sparsemax"}
    colours = {name: COLOURS[kind] for name, kind in of_kind.items()} | {"Mine, at last": "#123456"}
    assert cells["questions"]["named"]["colours"] == {name: on_page(colour) for name, colour in colours.items()}
    assert all(colour in effect for colour in colours.values())


def test_two_variants_of_one_label_are_refused():
    said = "variants a and b are both shown as 'b'; give one a label"
    with pytest.raises(ConfigError, match=said):
        parse(Ablation, load_yaml(SIX) | {"variants": {"a": {"label": "b"}, "b": {}}}, "f")


def test_labels_and_colours_change_no_job(monkeypatch):
    plain, config = load_ablation("span_limit"), load_config({"scale": "smoke"})
    shown = {"label": "a name", "colour": "#123456"}
    variants = {name: one.model_copy(update=shown) for name, one in plain.variants.items()}
    rows = []
    for each in (plain, plain.model_copy(update={"variants": variants})):
        monkeypatch.setattr(Config, "load_ablations", lambda self, each=each: {"span_limit": each})
        rows.append(plan(config))
    before, after = rows
    assert [row.job.digest for row in before] == [row.job.digest for row in after]
    assert {(row.label, row.colour) for row in after} == {("a name", "#123456")}


def test_a_new_ablation_of_six_lines_is_answered(page):
    """Differences -.099, -.098, -.097: mean -.098, half the interval 4.303 * .001 / sqrt(3) = .0025."""
    text = page.read_text()
    assert "<strong>Found:</strong> long is 0.0980 bpc better than short" in text
    assert "95 % interval 0.0955 to 0.1005), by dev bpc, over 3 seeds on Python sources in 27 letters" in text
    assert "−0.0980</td>" in text and "−0.1005 to −0.0955" in text
    for figure in ("effect", "curves"):
        assert f'id="figure-answer-{figure}"' in text
    assert text.count("<svg") == 2  # all costs are alike here, so that there is nothing to draw
    assert "short" in text.partition("figure-answer-effect")[2].partition("</svg>")[0]
    runs = {f"ramp-{variant}-64-None-{seed}.html" for variant in BPC for seed in (1, 2, 3)}
    assert runs <= set(links(page).addresses) and len(text) < 100_000
