"""The overview of all variants: quality against cost, the matrix of choices, and the findings of
the first screen.
"""
