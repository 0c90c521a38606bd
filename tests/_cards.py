"""Cards of made-up numbers."""

import json
import math
from dataclasses import replace

from workflow.cards.backtest import AtScale, BackTest, PartScore, Score
from workflow.cards.card import AtLimit, Card, CardPart, Costs, Failed, Known, Length
from workflow.cards.compare import Comparison, Scatter
from workflow.config.job import Job
from workflow.plan.rows import PlanRow
from workflow.settings.battery import Part, name_part
from workflow.tasks.spec import TASKS

SCORES = {"char_lm": "test_bpc", "translation": "test_bleu", "symbols": "test_accuracy"}

# as a battery has a part
PART = {
    "title": "a part",
    "task": "char_lm",
    "corpus": "enwik8",
    "score": "test_bpc",
    "margin": 0.1,
    "baseline": {"span": "fixed"},
}


def compared(difference: float, half: float, verdict: str, *, seeds: int | None = 5):
    return Comparison(
        difference=difference,
        low=difference - half,
        high=difference + half,
        p=0.001,
        p_equal=0.5,
        scatter=Scatter(half / 2, 50),
        detectable=2 * half,
        seeds=seeds,
        verdict=verdict,
        holm=0.004,
    )


def part(title: str, task: str = "symbols", *, corpus: str = "", margin: float = 1, **more):
    """Make a part that is not run. more: what else it has."""
    score = SCORES[task]
    asked = Part(title=title, task=task, corpus=corpus or "sort", score=score, margin=margin)
    empty = {
        "name": title.replace(" ", "_"),
        "part": asked,
        "score": TASKS[task].known[score],
        "ours": {},
        "baseline": {},
        "comparison": None,
        "known": (),
        "costs": Costs(),
        "failed": (),
        "lengths": (),
        "behaviour": {},
        "digests": (),
        "why": "not run",
    }
    return CardPart(**(empty | more))


def measured(title: str, task: str, comparison: Comparison, **more) -> CardPart:
    """Make a part that is compared, with three seeds of the variant and of the baseline."""
    scores = {1: 50.0, 2: 51.0, 3: 52.0}
    shared = {"comparison": comparison, "ours": scores, "baseline": scores, "why": None}
    return part(title, task, **(shared | more))


def card(*parts: CardPart, **more) -> Card:
    given = {"name": "entmax15", "title": "entmax15", "choices": {"normaliser": "entmax15"}}
    given |= {"scale": "laptop", "devices": ("a device",)}
    return Card(**(given | more), parts=parts)


def scored(cases: int, battery: int, always_worse: int, p: float | None = None) -> Score:
    return Score(cases, battery, always_worse, dearer=2, rank=-0.25, p=p, p_rank=p)


def back_tested(scale: str, score: Score, *parts: PartScore, symbols: Score | None = None):
    """Make the back-test at one larger scale. left_out: 4 signs."""
    none = scored(0, 0, 0)
    return AtScale(scale, (), score, none, symbols or none, left_out=4, parts=parts, pairings=())


def known_choice(normaliser: str = "softmax", **span) -> str:
    attention = {
        "span": {"name": "fixed", **span},
        "selection": {"name": "all"},
        "normaliser": {"name": normaliser},
        "position": {"name": "none"},
    }
    return json.dumps({"attention": attention, "gate": False})


def full_card(parts: int = 9) -> Card:
    """Make a card on which everything is measured, with extreme values."""
    known = tuple(
        Known(known_choice(limit=64), difference, 3, macs=macs)
        for difference, macs in ((-90.0, 0.1), (-0.5, 0.5), (0.2, 1.0), (40.0, 2.0))
    )
    lengths = tuple(Length(at, 100 - at * 9, 100 - at * 11) for at in (1.0, 1.5, 2.0, 4.0, 8.0))
    limits = tuple(AtLimit(S, 32 / S, 0.9) for S in (64, 128, 256, 512, 1024))
    curve = ((0, 4.0), (100, 2.0), (200, 900.0), (300, math.inf))
    costs = Costs(macs=0.35, memory=0.8, train=0.42, predict=9.0)
    verdicts = ("better", "worse", "no difference", "inconclusive")
    made = []
    for number in range(parts):
        made.append(
            measured(
                f"a part of the battery with a long title {number}",
                "symbols",
                compared((number - 4) * 3.1, 2.0 + 3 * (number == 8), verdicts[number % 4]),
                corpus=f"corpus{number}",
                known=known,
                costs=replace(costs, macs=0.2 + 0.3 * number),
                lengths=lengths,
                limits=limits if number == 1 else (),
                failed=(Failed(4, "diverged", "the loss is not finite", curve),),
                behaviour={"mean_span": (12.0, 256.0)},
            )
        )
    empty = part("captions", why="there is no cross-attention in this model")
    by_part = PartScore("sorting", "a part with a long title", 7, 6, 5, informs=True)
    larger = (
        back_tested("overnight", scored(17, 12, 11, p=0.04), by_part, symbols=scored(3, 3, 0)),
        back_tested("small", scored(9, 7, 7), by_part),
    )
    tested = BackTest("laptop", larger, ("copying", "recall"))
    return card(*made, empty, back_test=tested)


def planned(variant: str, made: Job, part: str = "toy") -> PlanRow:
    """Make the row of a plan with which a part of a card asks for a job."""
    return PlanRow(
        question=name_part(part),
        paper="own",
        variant=variant,
        paper_corpus="toy",
        corpus="toy",
        S=None,
        k=None,
        job=made,
    )
