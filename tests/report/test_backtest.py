"""What a smaller scale said of a larger one's effects, counted by hand."""

from workflow.claims.backtest import Calls, back_test


def line(name, by="difference", **sets):
    """sets: low, effect and high of each scale; None where it could not test the claim."""
    keys = ("low", "effect", "high", "p")
    told = {
        scale: (*numbers, 0.01) if numbers else (None, 1.0, None, None)
        for scale, numbers in sets.items()
    }
    sets = [
        {"set": scale, "scale": scale, **dict(zip(keys, each, strict=True))}
        for scale, each in told.items()
    ]
    return {"name": name, "by": by, "sets": sets}


def test_a_call_is_of_the_sign_and_of_the_interval():
    lines = [
        line("both", laptop=(0.1, 0.2, 0.3), overnight=(0.2, 0.25, 0.3)),
        line("sign alone", laptop=(0.1, 0.2, 0.3), overnight=(0.3, 0.4, 0.5)),
        line("turned, within", laptop=(-0.2, 0.1, 0.4), overnight=(-0.2, -0.1, 0.0)),
        line("a ratio", by="ratio", laptop=(0.5, 0.6, 0.7), overnight=(1.1, 1.2, 1.3)),
        line("one scale alone", laptop=(0.1, 0.2, 0.3), overnight=None),
    ]
    assert back_test(lines) == [
        Calls("laptop", "overnight", 4, 2, 2, ["turned, within", "a ratio"])
    ]


def test_scales_are_compared_from_the_smaller_to_the_larger():
    numbers = (0.1, 0.2, 0.3)
    calls = back_test([line("a", paper=numbers, laptop=numbers, small=numbers)])
    assert [(each.smaller, each.larger) for each in calls] == [
        ("laptop", "small"),
        ("laptop", "paper"),
        ("small", "paper"),
    ]
    assert back_test([line("a", laptop=numbers), line("b", small=numbers)]) == []
