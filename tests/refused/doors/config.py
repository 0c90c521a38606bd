"""config/config.yaml, as `estimate` reads it."""

from tests.refused._kind import Kind

COMMAND = "cli.estimate --results ."
LAUGHS = "a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n"
LAUGHS += "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True))


def kind(text: object, says: str) -> Kind:
    return Kind(COMMAND, says, {"config/config.yaml": text})


KINDS = {
    "an unknown key": kind("scal: smoke", "unknown key 'scal': did you mean 'scale'?"),
    "a key that is no word": kind("{1: 2}", "unknown key '1'"),
    "a key that stands twice": kind("scale: smoke\nscale: laptop", "key 'scale' stands twice"),
    "a key that is a list": kind("? [a, b]\n: 1", "a key must be a word or a number"),
    "an unknown scale": kind("scale: smok", "unknown scale 'smok': did you mean 'smoke'?"),
    "a scale that is a path": kind("scale: ../..", "unknown scale '../..'"),
    "a scale that is a number": kind("scale: 5", "scale = 5: Input should be a valid string"),
    "a scale that is a list": kind("scale: [smoke]", "scale = ['smoke']: Input should be a valid string"),
    "no scale": kind("scale: null", "scale = None: Input should be a valid string"),
    "an unknown paper": kind("papers: [adaptiv_span]", "unknown paper 'adaptiv_span': did you mean 'adaptive_span'?"),
    "no paper": kind("papers: []", "papers = []: List should have at least 1 item"),
    "papers that are no list": kind("papers: adaptive_span", "papers = 'adaptive_span': Input should be a valid list"),
    "an unknown task": kind("tasks: [parsin]", "unknown task 'parsin': did you mean 'parsing'?"),
    "an unknown ablation": kind("ablations: [model]", "unknown ablation 'model': did you mean 'models'?"),
    "ablations of a task that is left out": kind(
        "tasks: [parsing]\nablations: [models]", "papers: no chosen ablation belongs to"
    ),
    "an unknown data set": kind("corpus: text9", "unknown data set 'text9': did you mean 'text8'?"),
    "a corpus that is not there": kind("corpus: file:none.txt", "corpus 'file:none.txt': no such file"),
    "a corpus at home to nobody": kind("corpus: file:~nobody-here/a.txt", "file:~nobody-here/a.txt"),
    "a corpus with half a letter": kind('corpus: "file:\\ud800"', "found invalid Unicode character escape"),
    "a corpus with a zero byte": kind('corpus: "file:a\\0b"', "a\\x00b"),
    "a data_dir that is not there": kind("data_dir: none", "data_dir 'none': no such folder"),
    "a data_dir at home to nobody": kind("data_dir: ~nobody-here", "data_dir '~nobody-here'"),
    "an unknown way to train": kind("train: evrything", "unknown train 'evrything': did you mean 'everything'?"),
    "other results that are not there": kind("scale: smoke\nother_results: [none.zip]", "other_results 'none.zip'"),
    "an unknown device": kind("device: gpu", "unknown device 'gpu': did you mean 'cpu'?"),
    "an unknown backend": kind("backend: bnad", "unknown backend 'bnad': did you mean 'band'?"),
    "a list in place of keys": kind("- scale", "expected keys with values, got ['scale']"),
    "a word in place of keys": kind("scale", "expected keys with values, got 'scale'"),
    "brackets that are not closed": kind("papers: [", "not YAML"),
    "a tab": kind("scale:\n\tsmoke", "not YAML"),
    "bytes that are no text": kind(b"scale: \xff\xfe", "not YAML: 'utf-8' codec"),
    "code in a tag": kind("scale: !!python/object/apply:os.system [touch evil]", "python/object/apply:os.system"),
    "aliases that swell": kind(LAUGHS, "its aliases swell"),
    "an alias that holds itself": kind("papers: &a [*a]", "an alias holds itself"),
    "an alias of nothing": kind("papers: *a", "undefined alias"),
    "three thousand levels": kind("papers: " + "[" * 3000, "not YAML"),
    "a hundred levels": kind("papers: " + "[" * 100 + "]" * 100, "more than 50 levels"),
    "a number without end": kind("scale: " + "9" * 10_000, "a number of more than 100 digits"),
    "a number without end, in hexadecimal": kind("scale: 0x" + "f" * 10_000, "a number of more than 100 digits"),
    "a date that is none": kind("scale: 2020-13-45", "month must be in 1..12"),
    "a value of a million letters": kind(f"scale: {'s' * 1_000_000}", "unknown scale 'ssss"),
    "a key of a million letters": kind(f"{'s' * 1000}: 1", "unknown key 'ssss"),
    "a folder in place of a file": Kind(COMMAND, "Is a directory", {"config/config.yaml/x": ""}),
}
