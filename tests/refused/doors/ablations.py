"""config/ablations/NAME.yaml, as `estimate` reads it at scale smoke."""

from tests.refused._kind import Kind

PLACE = "config/ablations/mine.yaml"
COMMAND = "cli.estimate --results . --config scale=smoke ablations=[mine]"
VARIANT = {"span": "fixed", "S": "max"}
GOOD = {"question": "Why?", "paper": "adaptive_span", "corpora": ["text8"], "variants": {"a": VARIANT}}


def kind(says: str, **changes) -> Kind:
    return Kind(COMMAND, says, {PLACE: {key: value for key, value in {**GOOD, **changes}.items() if value != "GONE"}})


def variant(says: str, **changes) -> Kind:
    return kind(says, variants={"a": {**VARIANT, **changes}})


KINDS = {
    "no question": kind("'Why.' does not end in a question mark", question="Why."),
    "a question that is missing": kind("question", question="GONE"),
    "an unknown key": kind("unknown key 'variant': did you mean 'variants'?", variant={}),
    "an unknown paper": kind("unknown paper 'adaptive_spam'", paper="adaptive_spam"),
    "an unknown task": kind("unknown task 'char_ml': did you mean 'char_lm'?", task="char_ml"),
    "no corpus": kind("corpora = []: List should have at least 1 item", corpora=[]),
    "an unknown corpus": kind("unknown data set 'text9': did you mean 'text8'?", corpora=["text9"]),
    "a corpus of another task": kind("unknown data set 'iwslt14-deen'", corpora=["iwslt14-deen"]),
    "no variant": kind("variants = {}: Dictionary should have at least 1 item", variants={}),
    "variants that are a list": kind("variants = ['a']: Input should be a valid dictionary", variants=["a"]),
    "a variant that is a word": kind(
        "variants.a = 'fixed': Input should be a valid dictionary", variants={"a": "fixed"}
    ),
    "a variant whose name leads out": kind("'../../evil'", variants={"../../evil": VARIANT}),
    "no seed": kind("seeds = 0: Input should be greater than 0", seeds=0),
    "an unknown table": kind("unknown table 'span_by_k': did you mean 'span_by_k_grid'?", tables=["span_by_k"]),
    "an unknown figure": kind("did you mean 'adaptive_span_figure5'?", figures=["adaptive_span_fig5"]),
    "a table of another": Kind(
        "cli.estimate --results . --config scale=smoke ablations=[mine,limit]",
        "tables limit: named by limit and mine",
        {PLACE: {**GOOD, "tables": ["limit"]}},
    ),
    "a grid of an unknown axis": kind("unknown key 's': did you mean 'S'?", grid={"s": "all"}),
    "a word for S": kind(
        "unknown value of S 'maxx': did you mean 'max'?", variants={"a": {"span": "fixed", "S": "maxx"}}
    ),
    "S is true": variant("variants.a.S = True: Input should be a valid integer", S=True),
    "S is 0": variant("S must be a whole number and at least 1, got 0", S=0),
    "an unknown key of a variant": variant("unknown key 'spam': did you mean 'span'?", spam="fixed"),
    "an unknown span": variant("unknown span 'fixd': did you mean 'fixed'?", span="fixd"),
    "a span that is a number": variant("span = 5", span=5),
    "a setting of no span": variant("unknown setting of span 'fixed' 'rmp'", span={"name": "fixed", "rmp": 3}),
    "a setting that is a list": variant("ramp must be a number, got [1]", span={"name": "adaptive", "ramp": [1]}),
    "a ramp longer than S": variant("ramp R = 999 must not exceed S", span={"name": "adaptive", "ramp": 999}),
    "top-k without k": variant("selection 'top_k' needs a value for 'k'", selection="top_k"),
    "an unknown recipe": variant("unknown recipe 'bas': did you mean 'base'?", recipe="bas"),
    "an unknown size": variant("unknown size in times 'width'", times={"width": 2}),
    "a size that is no whole number": variant("times: heads = 2 x 0.3 is not a whole number", times={"heads": 0.3}),
    "a size times nothing": variant("times: heads = 2 x 0 is not a whole number", times={"heads": 0}),
    "a size times no number": variant(
        "times.heads = nan: Input should be a finite number", times={"heads": float("nan")}
    ),
    "a size beyond all numbers": variant("net: heads = 2000", times={"heads": 1e300}),
    "an unknown place": variant("unknown key 'apply_to'", apply_to=["decoder"]),
    "an unknown key of training": variant("training: unknown key 'step': did you mean 'steps'?", training={"step": 1}),
    "a code tag": Kind(COMMAND, "python/object", {PLACE: "question: !!python/object:os.x {}"}),
    "a file of nothing": Kind(COMMAND, "question", {PLACE: ""}),
    "a name that is none": Kind(
        "cli.estimate --results . --config scale=smoke",
        "a;b.yaml: expected a name of letters, digits, _ and -",
        {"config/ablations/a;b.yaml": GOOD},
    ),
}
