"""From the config to jobs and targets. Imports no torch."""
