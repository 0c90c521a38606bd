"""Trees of the user's own, `trees:PATH`."""

from tests.refused._kind import Kind


def kind(says: str, text: object) -> Kind:
    return Kind("scripts.corpus trees:a.mrg out.npz", says, {"a.mrg": text})


KINDS = {
    "not there": Kind("scripts.corpus trees:none out.npz", "data set 'trees:none': no such file"),
    "empty": kind("the file is empty", ""),
    "a bracket that is not closed": kind(
        "line 1: the bracket that opens here is never closed; 2 are missing", "(S (NN a)\n("
    ),
    "a bracket that was not opened": kind("line 2: a bracket closes that was not opened", "(S (NN a))\n)"),
    "a word in no bracket": kind("line 1: 'word' stands in no bracket", "word (S)"),
    "words without a tag": kind("need a tag each, (TAG word)", "(S (NN a) b)"),
    "a bracket of nothing": kind("holds nothing", "(S ())"),
    "brackets without end": kind("more than 200 brackets in each other", "(S " * 10_000),
    "no text": kind("is not UTF-8", b"(S (NN \xff))"),
    "two trees": kind("at least 3 are needed", "(S (NN a))\n(S (NN b))"),
    "traces alone": kind("0 trees; at least 3 are needed", "(S (-NONE- *))\n" * 5),
    "no folder of sections": Kind("scripts.corpus ptb out.npz --data-dir .", "not found in"),
}
