"""Attention maps of translators, on a handful of weights worked out by hand."""

from studies.aiayn.figures import aiayn_attention
from studies.explicit_sparse.figures import explicit_sparse_figure1, explicit_sparse_figure4
from studies.explicit_sparse.figures._compared import pick_compared
from tests._runs import BROKEN, translated
from workflow.results.runs_table import as_frame

HEADS = {
    "1": [[[0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]],
    "12": [[[1.0, 0.0]] * 2, [[0.5, 0.5]] * 2],
}


def looked(**changes) -> dict:
    maps = {
        "source": ["▁zwei", "<eos>"],
        "target": ["<bos>", "▁two"],
        "encoder": HEADS,
        "cross": HEADS,
    }
    return translated(maps=maps, **changes)


def test_figure_1_shows_one_head_of_the_last_layer_whose_keys_can_be_counted():
    """Mean maxima in layer 12: 1 and .5, so head 1, of which each query looks at one key."""
    weights = explicit_sparse_figure1.data(as_frame([looked(variant="top_k", k=4), looked()]))
    names = ["softmax, encoder layer 12, head 1", "top-k, k = 4, encoder layer 12, head 1"]
    assert weights["panel"].unique().tolist() == names
    first = weights[weights["panel"] == names[0]]
    assert first["weight"].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert first["key_piece"].tolist() == ["▁zwei", "<eos>"] * 2


def test_figure_4_shows_the_head_with_the_highest_mean_maximum_bottom_layer_first():
    """Mean maxima: .55 and .85 in layer 1; 1 and .5 in layer 12."""
    weights = explicit_sparse_figure4.data(as_frame([looked(), looked(variant="top_k", k=4)]))
    names = ["softmax, decoder layer 1, head 2", "top-k, decoder layer 1, head 2"]
    assert weights["panel"].unique().tolist()[:2] == names
    assert weights["head"].unique().tolist() == ["2", "1"]
    first = weights[weights["panel"] == names[0]]
    assert first["weight"].tolist() == [0.9, 0.1, 0.2, 0.8]
    assert first["query_piece"].tolist() == [
        "<bos>",
        "<bos>",
        "▁two",
        "▁two",
    ]


def test_the_maps_are_of_one_text_and_one_seed_that_both_nets_have():
    rows = [
        looked(),
        looked(seed=2),
        looked(variant="top_k", k=4, seed=2),
        looked(variant="top_k", paper_corpus="other"),
    ]
    used = pick_compared(as_frame(rows))
    assert used["variant"].tolist() == ["softmax", "top_k"]
    assert used["seed"].tolist() == [2, 2]
    nothing = [
        looked(),
        translated(variant="top_k", maps={}),
        translated(variant="top_k", seed=2, **BROKEN),
    ]
    assert not len(pick_compared(as_frame(nothing)))


def test_the_sharpest_heads_of_all_layers_are_drawn_of_a_seed_that_ended_well():
    """Entropies in bits: 1.0 and .6 in layer 1, 0 and 1 in layer 12."""
    base = {"question": "transformer", "variant": "base", "paper_corpus": "wmt14-ende"}
    runs = as_frame(
        [
            looked(**base, status="diverged", reason="x"),
            looked(**base, seed=2),
            looked(**base, seed=3),
        ]
    )
    assert aiayn_attention.used(runs)["seed"].tolist() == [2]
    weights = aiayn_attention.data(runs)
    heads = weights[["layer", "head"]].drop_duplicates()
    assert heads["layer"].tolist() == [12, 1, 1, 12]
    assert heads["head"].tolist() == [1, 2, 1, 2]
    first = weights.query("layer == 12 and head == 1 and key_piece == 'zwei'")
    assert first["weight"].tolist() == [1, 1]
    assert not len(aiayn_attention.data(as_frame([translated(**base, maps={})])))
