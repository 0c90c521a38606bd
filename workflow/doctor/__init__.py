"""What this machine can do, each thing tried by a check of its own: `python -m workflow.cli.doctor`."""
