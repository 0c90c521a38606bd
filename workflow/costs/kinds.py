"""How the costs of each task are measured: training_step, prediction, evaluation and count, by name of the task."""

from workflow.costs import sentences, streams

KINDS = {"char_lm": streams, "translation": sentences, "captioning": sentences, "parsing": sentences}
