"""What the tables of studies are made of: cells, pairs of runs, costs of layers; and the table of
all formulas.
"""
