"""Why a claim cannot be tested by the runs at hand, in words."""

from workflow.plan.ablations import load_ablation
from workflow.report.claims.measures import LAYERS
from workflow.report.claims.samples import Sample
from workflow.report.claims.schema import Claim
from workflow.report.numbers import join
from workflow.report.tables._layers import LABELS
from workflow.results.runs_table import Frames

NOT_ASKED = "its question was not run"


def was_run(claim: Claim, frames: Frames) -> bool:
    if claim.ablation == LAYERS:
        return frames.layers is not None
    return frames.runs is not None and claim.ablation in set(frames.runs["ablation"])


def _absent(claim: Claim, frames: Frames) -> list[str]:
    """The variants of a claim of which there is no run, not even a failed one: a scale need not have time for all."""
    if claim.ablation == LAYERS:
        return []
    run = set(frames.runs.loc[frames.runs["ablation"] == claim.ablation, "variant"])
    return list(dict.fromkeys(side.variant for side in claim.sides if side.variant not in run))


def why_not_tested(claim: Claim, samples: list[Sample | None], frames: Frames) -> str | None:
    """Why a claim is not about these runs; None where it is."""
    if claim.scale and set(frames.runs["scale"]) != {claim.scale}:
        return f"it is about the sizes and texts of scale {claim.scale} alone"
    if absent := _absent(claim, frames):
        return f"{join(_labels(claim, absent))} {'was' if len(absent) == 1 else 'were'} not run"
    ours, than = samples
    same = than and ours.values == than.values and claim.measured(claim.ours) == claim.measured(claim.than)
    alike = same and ours.digests == than.digests and (ours.digests or claim.ours.variant == claim.than.variant)
    return "both sides are the same at this scale" if alike and ours.values else None


def what_is_missing(claim: Claim, samples: list[Sample | None]) -> str | None:
    """Why the claim cannot be weighed; None where it can."""
    sides = zip((claim.ours, claim.than), samples, strict=True)
    empty = [side.variant for side, sample in sides if side and not sample.values]
    if empty and claim.best_of and samples[0].digests:
        return f"the printed score is the best of {claim.best_of} runs, here are {len(samples[0].digests)}"
    return f"nothing measured of {join(_labels(claim, empty))}" if empty else None


def _labels(claim: Claim, variants: list[str]) -> list[str]:
    """How tables name these variants, or layers."""
    if claim.ablation == LAYERS:
        return [LABELS[name] for name in dict.fromkeys(variants)]
    known = load_ablation(claim.ablation).variants
    return [known[name].label or name for name in dict.fromkeys(variants)]
