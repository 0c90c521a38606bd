"""What runs leave behind: records, the runs table, statistics, provenance."""
