"""One script per rule, of the same name."""

from workflow.ready.client import begin

# They take as long to import as to run; those of a group share a ready process. What is timed has a process of its own.
OF_NETS = ("train", "costs")
OF_REPORTS = ("runs_table", "table", "figure", "claims", "evidence", "ledger", "page")

begin(*(tuple(f"{__name__}.{script}" for script in scripts) for scripts in (OF_NETS, OF_REPORTS)))
