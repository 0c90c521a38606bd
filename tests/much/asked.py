"""A folder that asks for many runs: one question of scale smoke with as many seeds as it takes.

python -m tests.much.plan [RUNS]
"""

from pathlib import Path

import yaml

from workflow.config.files import ROOT

S, K, SEEDS_BY = (8, 16, 24, 32), (1, 2, 4, 8, 16), 20
VARIANTS = {
    "fixed": {"span": "fixed", "selection": "top_k", "S": "all", "k": "all"},
    "adaptive": {"span": "adaptive", "selection": "top_k", "S": "all", "k": "all"},
}
QUESTION = {
    "question": "How much is too much?",
    "paper": "adaptive_span",
    "corpora": ["text8"],
    "variants": VARIANTS,
}
CONFIG = {"scale": "smoke", "ablations": ["much"], "train": "everything", "device": "cpu"}


def write_config(folder: Path, runs: int) -> dict:
    """Files in `folder` that ask for `runs` runs, in whole seeds; the config, as Snakemake holds it."""
    scale = yaml.safe_load((ROOT / "config" / "scales" / "smoke" / "char_lm.yaml").read_text(encoding="utf-8"))
    scale |= {"S": list(S), "k": list(K), "seeds": list(range(1, 1 + runs // (len(S) * len(K) * len(VARIANTS))))}
    scale["ablations"] = ["much"]
    for place, content in (("studies/own/questions/much", QUESTION), ("config/scales/smoke/char_lm", scale)):
        path = folder / f"{place}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    return CONFIG
