"""What is computed: attention as a choice on each of five axes, and the models around it.

Imports torch and nothing else of ours.
"""
