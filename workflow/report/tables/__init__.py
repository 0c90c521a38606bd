"""Make what the tables of studies are made of: cells, and pairs of runs; and list all formulas."""
