"""Attention maps of translators, on a handful of weights worked out by hand."""

from studies.aiayn.figures import aiayn_attention
from studies.explicit_sparse.figures._compared import pick_compared
from tests._runs import BROKEN, translated
from workflow.results.runs_table import as_frame

HEADS = {
    "1": [[[0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]],
    "12": [[[1.0, 0.0]] * 2, [[0.5, 0.5]] * 2],
}
MAPS = {
    "source": ["▁zwei", "<eos>"],
    "target": ["<bos>", "▁two"],
    "encoder": HEADS,
    "cross": HEADS,
}


def looked(**changes) -> dict:
    return translated(maps=MAPS, **changes)


def test_the_maps_are_of_one_corpus_and_one_seed_that_both_models_have():
    rows = [
        looked(),
        looked(seed=2),
        looked(variant="top_k", k=4, seed=2),
        looked(variant="top_k", paper_corpus="other"),
    ]
    used = pick_compared(as_frame(rows))
    assert used["variant"].tolist() == ["softmax", "top_k"]
    assert used["seed"].tolist() == [2, 2]
    broken = translated(variant="top_k", **BROKEN)
    assert pick_compared(as_frame([looked(), broken])).empty


def test_the_sharpest_heads_of_all_layers_are_drawn_of_a_seed_that_ended_well():
    """Entropies in bits: 1.0 and .6 in layer 1, 0 and 1 in layer 12."""
    base = {"question": "transformer", "variant": "base", "paper_corpus": "wmt14-ende"}
    rows = [looked(**base, status="diverged", reason="x"), looked(**base, seed=2)]
    weights = aiayn_attention.data(as_frame(rows))
    heads = weights[["layer", "head"]].drop_duplicates()
    assert heads.to_numpy().tolist() == [[12, 1], [1, 2], [1, 1], [12, 2]]
