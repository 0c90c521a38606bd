"""config/scales/SCALE/TASK.yaml: the scale smoke with one thing changed, as `estimate` reads it."""

from tests.refused._kind import Kind
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml

PLACE = "config/scales/smoke/char_lm.yaml"
SCALE = read_yaml(ROOT / PLACE)
COMMAND = "cli.estimate --results . --config scale=smoke tasks=[char_lm]"
BASE = SCALE["recipes"]["base"]


def kind(says: str, **changes) -> Kind:
    return Kind(COMMAND, says, {PLACE: {key: value for key, value in {**SCALE, **changes}.items() if value != "GONE"}})


def recipe(says: str, **changes) -> Kind:
    return kind(says, recipes={**SCALE["recipes"], "base": {**BASE, **changes}})


def training(says: str, **changes) -> Kind:
    return kind(says, training={**SCALE["training"], **changes})


def measure(says: str, **changes) -> Kind:
    return kind(says, measure={**SCALE["measure"], **changes})


KINDS = {
    "an unknown key": kind("unknown key 'seed': did you mean 'seeds'?", seed=[1]),
    "a key is missing": kind("seeds", seeds="GONE"),
    "no seed": kind("seeds = []: List should have at least 1 item", seeds=[]),
    "a seed below 0": kind("seed = -1: Input should be greater than or equal to 0", seeds=[-1]),
    "a seed that is a fraction": kind("seeds.0 = 1.5: Input should be a valid integer", seeds=[1.5]),
    "a seed that is no number": kind("seeds.0 = '1': Input should be a valid integer", seeds=["1"]),
    "a seed that is true": kind("seeds.0 = True: Input should be a valid integer", seeds=[True]),
    "a seed of thirty digits": kind("less than or equal to 9007199254740992", seeds=[10**30]),
    "S is 0": kind("S must be at least 1, got 0", S=[0, 8]),
    "S beyond all numbers": kind("less than or equal to 9007199254740992", S=[10**30]),
    "k below 1": kind("k must be at least 1, got -3", k=[-3]),
    "k is missing": kind("k = []: List should have at least 1 item", k=[]),
    "about is a list": kind("about = ['x']: Input should be a valid string", about=["x"]),
    "corpora are a list": kind("corpora = ['text8']: Input should be a valid dictionary", corpora=["text8"]),
    "an unknown corpus": kind("'txt8': did you mean 'text8'?", corpora={**SCALE["corpora"], "txt8": "words"}),
    "a corpus stands for an unknown one": kind("unknown data set 'wrods'", corpora={"text8": "wrods"}),
    "an unknown ablation": kind("unknown ablation in config/scales/smoke 'modls'", ablations=["modls"]),
    "an unknown ablation first": kind("unknown ablation in config/scales/smoke 'modls'", train_first=["modls"]),
    "variants of an unknown ablation": kind("unknown ablation in config/scales/smoke 'modls'", variants={"modls": []}),
    "an unknown variant": kind(
        "unknown variant of models in config/scales/smoke 'as_smal': did you mean 'as_small'?",
        variants={"models": ["as_smal"]},
    ),
    "settings of no choice": kind("unknown choice of attention 'fixd': did you mean 'fixed'?", settings={"fixd": {}}),
    "an unknown setting": kind("in settings 'rmp': did you mean 'ramp'?", settings={"adaptive": {"rmp": 8}}),
    "a setting that is no number": kind("ramp must be a number, got 'x'", settings={"adaptive": {"ramp": "x"}}),
    "a setting at no S": kind("unknown S in settings_at '31'", settings_at={31: {"adaptive": {}}}),
    "recipes are a list": kind("recipes = []: Input should be a valid dictionary", recipes=[]),
    "no recipe of the name": kind("unknown recipe 'base'", recipes={"bas": BASE}),
    "a recipe of an unknown ablation": kind("in config/scales/smoke 'modls'", recipes_of={"modls": {}}),
    "an unknown key of a recipe": recipe("unknown key 'nett': did you mean 'net'?", nett={}),
    "an unknown net": recipe("net: name = 'char_ml'", net={**BASE["net"], "name": "char_ml"}),
    "no layers": recipe("net: layers = 0: Input should be greater than 0", net={**BASE["net"], "layers": 0}),
    "heads that do not divide": recipe("heads must divide d_model, got heads = 7", net={**BASE["net"], "heads": 7}),
    "dropout of all": recipe("dropout = 1: Input should be less than 1", net={**BASE["net"], "dropout": 1}),
    "dropout that is no number": recipe("dropout = True: must be a number", net={**BASE["net"], "dropout": True}),
    "an unknown axis": recipe("unknown axis 'spam': did you mean 'span'?", attention={"spam": "fixed"}),
    "an unknown position": recipe("unknown position 'relativ'", attention={"position": "relativ"}),
    "no step": training("steps = 0: Input should be greater than 0", steps=0),
    "steps without end": training("steps = 1", steps=10**40),
    "an unknown optimiser": training("optimiser = 'adagard': Input should be 'adagrad'", optimiser="adagard"),
    "a rate below 0": training("lr = -1: Input should be greater than 0", lr=-1),
    "a rate without end": training("lr = inf: Input should be a finite number", lr=float("inf")),
    "a rate that is no number": training("lr = nan: Input should be", lr=float("nan")),
    "a batch that cannot be split": training("accumulate must divide batch, got 5", accumulate=5),
    "an unknown key of training": training("unknown key 'step': did you mean 'steps'?", step=5),
    "training is a list": kind("training = [1]: Input should be a valid dictionary", training=[1]),
    "evaluation without streams": kind("evaluation: streams = 0", evaluation={**SCALE["evaluation"], "streams": 0}),
    "no pass": measure("measure.passes = 0: Input should be greater than 0", passes=0),
    "seconds without end": measure("measure.seconds = inf: Input should be a finite number", seconds=float("inf")),
    "seconds that are none": measure("measure.seconds = 0: Input should be greater than 0", seconds=0),
    "one length of layers": measure("measure.layer_lengths = [8]: List should have at least 2", layer_lengths=[8]),
    "an unknown task": Kind(
        COMMAND, "unknown task in config/scales/smoke 'parsin'", {"config/scales/smoke/parsin.yaml": ""}
    ),
    "a task without a word": Kind(COMMAND, "config/scales/smoke/char_lm.yaml", {PLACE: ""}),
    "a scale without a task": Kind(
        "cli.estimate --results . --config scale=mine", "papers:", {"config/scales/mine/a.txt": ""}
    ),
}
