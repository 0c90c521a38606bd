"""Read every claim, and refuse one whose file breaks the schema."""

from workflow.config.command_line import Parser, run
from workflow.plan.claims import known_claims
from workflow.report.claims.schema import load_claim


def main(argv: list[str] | None = None) -> None:
    Parser(
        prog="claims", description="Check that every claim's file follows the schema."
    ).parse_args(argv)
    for name in known_claims():
        load_claim(name)


if __name__ == "__main__":
    run(main)
