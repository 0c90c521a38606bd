"""What a person writes, read strictly: choices, jobs, files."""
