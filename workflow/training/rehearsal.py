"""What a run writes after its last update, had before the first.

A model that has not learned scores a few samples.
"""

from copy import deepcopy
from dataclasses import replace

from models.attention.formula import Definition
from workflow.config.errors import ConfigError
from workflow.training.evaluation import Sample
from workflow.training.failures import Ended, failure
from workflow.training.hardware import generators
from workflow.training.run import Run


def rehearse(run: Run) -> Sample:
    """Score a few samples; the sample's point is a whole row of the learning curve.

    The run is as it was before: a copy of its model is scored, by the definition, and random
    numbers go on where they were. `Ended` where scoring fails.
    """
    model = deepcopy(run.model)
    for layer in model.attentions:
        layer.implementation = Definition()  # what computes the run is compiled and checked later
    states = [(each, each.get_state()) for each in generators(run.device).values()]
    try:
        sample = run.task.sample(model)
    except ConfigError:
        raise
    except Exception as error:
        found = failure(error)
        problem = "a few samples cannot be scored before the first update"
        raise Ended(found.status, f"{problem}: {found.reason}") from error
    finally:
        for generator, state in states:
            generator.set_state(state)
    loss = {f"train_{run.task.unit}": run.task.in_unit(1.0)}
    return replace(sample, point={"step": 1, **loss, **sample.point, "tokens_per_s": 1.0})
