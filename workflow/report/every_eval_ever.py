"""Write the scores of a card in the schema of Every Eval Ever, version 0.3.0.

A part has two results: the variant's mean score over seeds, and its difference from the baseline
with its 95 % interval. https://evalevalai.com
"""

import hashlib
import json
import math
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from workflow.cards.stored import StoredCard, StoredComparison, StoredPart
from workflow.config.errors import ConfigError
from workflow.results.statistics import LEVEL, scatter
from workflow.tasks.quantities import Quantity
from workflow.tasks.spec import TASKS

SCHEMA = "0.3.0"
COLLECTION = "attention-suite"


@dataclass(frozen=True)
class Exported:
    """Who exports a card, and when.

    developer: of the variant. version: of this suite. seconds: since 1970, when the card was made.
    """

    developer: str
    version: str
    seconds: int


def export(card: StoredCard, about: Exported) -> dict:
    """Return the evaluation log of a card; `ConfigError` where no part has a score."""
    results = []
    for part in card.parts:
        if part.ours:
            results += _results(part, card.scale)
    if not results:
        raise ConfigError(f"card '{card.name}': no part has a score to export")
    model = f"{about.developer}/{card.name}"
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{COLLECTION}/{model}/{about.seconds}",
        "retrieved_timestamp": str(about.seconds),
        "source_metadata": {
            "source_name": f"card of {card.name}",
            # of means over seeds, without the outputs of each sample
            "source_type": "documentation",
            "source_organization_name": about.developer,
            "evaluator_relationship": "first_party",
        },
        "eval_library": {"name": COLLECTION, "version": about.version},
        "model_info": {
            "name": card.title,
            "id": model,
            "developer": about.developer,
            "additional_details": {
                "deployment_type": "self_deployed",
                "model_availability": "unknown",
                "attention": json.dumps(card.chosen, sort_keys=True),
                "scale": card.scale,
                "devices": "; ".join(card.devices),
                "recipe": "tuned for the baseline",
            },
        },
        "evaluation_results": results,
    }


def place_of(log: dict) -> str:
    """Name the file of a log as their store does; equal logs have equal names."""
    content = json.dumps(log, sort_keys=True).encode()
    number = uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4)
    return f"data/{COLLECTION}/{log['model_info']['id']}/{number}.json"


def _results(part: StoredPart, scale: str) -> Iterable[dict]:
    quantity = TASKS[part.task].known[part.score]
    shared = {
        "source_data": {
            # part.corpus is the paper's, and the scale may read another in its place
            "dataset_name": part.title,
            "source_type": "other",
            "additional_details": {"task": part.task, "scale": scale},
        },
    }
    low, high = quantity.bounds
    yield shared | {
        "evaluation_result_id": part.name,
        "evaluation_name": part.title,
        "metric_config": _metric(part, quantity, low, high),
        "score_details": _score(part),
    }
    if part.compared is not None:
        yield shared | {
            "evaluation_result_id": f"{part.name}.difference",
            "evaluation_name": f"{part.title}: difference from the baseline",
            "metric_config": _metric(part, quantity, -math.inf, math.inf),
            "score_details": _difference(part, part.compared),
        }


def _metric(part: StoredPart, quantity: Quantity, low: float, high: float) -> dict:
    _, _, kind = quantity.name.partition("_")
    metric = {
        "metric_id": f"{COLLECTION}.{quantity.name}",
        "metric_name": quantity.title,
        "metric_kind": kind,
        "metric_unit": quantity.unit or "1",
        "lower_is_better": quantity.better == "lower",
        "score_type": "continuous",
        "min_score": _bound(low),
        "max_score": _bound(high),
    }
    if part.at is not None:
        metric["metric_parameters"] = {"at": part.at}
    return metric


def _bound(value: float) -> float | str:
    """Write a bound; JSON has no infinity."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _score(part: StoredPart) -> dict:
    scores = list(part.ours.values())
    details = {"samples": "training seeds", "seeds": ", ".join(map(str, part.ours))}
    if part.baseline:
        details["baseline_score"] = f"{fmean(part.baseline.values()):.6g}"
        details["baseline_seeds"] = str(len(part.baseline))
    for name, ratio in part.costs:
        if ratio is not None:
            details[f"{name}_ratio_to_baseline"] = f"{ratio:.6g}"
    uncertainty: dict = {"num_samples": len(scores)}
    if len(scores) > 1:
        deviation = scatter(scores)
        error = {"value": deviation / math.sqrt(len(scores)), "method": "analytic"}
        uncertainty |= {"standard_deviation": deviation, "standard_error": error}
    return {"score": fmean(scores), "details": details, "uncertainty": uncertainty}


def _difference(part: StoredPart, compared: StoredComparison) -> dict:
    interval = {
        "lower": compared.low,
        "upper": compared.high,
        "confidence_level": 1 - LEVEL,
        "method": "moderated t over training seeds, not corrected for the parts",
    }
    details = {
        "verdict": compared.verdict,
        "margin_of_no_difference": f"{part.margin:g}",
        "p_holm": f"{compared.holm:.3g}",
        "p_equivalence_holm": f"{compared.holm_equal:.3g}",
        "detectable_difference": f"{compared.detectable:.3g}",
    }
    uncertainty = {"confidence_interval": interval, "num_samples": len(part.ours)}
    return {"score": compared.difference, "details": details, "uncertainty": uncertainty}
