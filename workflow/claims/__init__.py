"""What the papers claim, held against the records: each claim is read, weighed and judged."""
