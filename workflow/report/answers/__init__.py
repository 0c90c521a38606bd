"""What the runs of any question say of its question, without code of its own: a sentence, a table,
figures.
"""
