"""Studies: a folder for each paper, and one for questions of our own. No code outside them names a
paper.
"""
