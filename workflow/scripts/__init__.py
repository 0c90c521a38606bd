"""One script per rule, of the same name."""

from workflow.ready.client import begin

# They import torch, are short, and run once for every net. What is timed has a process of its own from its start.
begin("workflow.scripts.train", "workflow.scripts.costs")
