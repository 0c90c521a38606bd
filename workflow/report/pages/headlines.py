"""The headline claims of the papers, read from the ledger."""

from workflow.claims.ledger import speaking


def list_headlines(lines: list[dict]) -> list[dict]:
    """Select what papers claim in their abstracts, each with the `evidence` of the set that
    speaks.
    """
    return [line | {"evidence": speaking(line)} for line in lines if line["abstract"]]
