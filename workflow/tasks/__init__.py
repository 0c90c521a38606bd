"""A folder is a task: its job, datasets, net's inputs, loss and scores. The files next to the
folders are shared.
"""
