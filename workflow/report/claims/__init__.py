"""What the papers claim, held against the records: asked, read, weighed, judged."""
