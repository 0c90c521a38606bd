"""What is computed: attention as four choices, and the models around it. Imports torch and nothing
else of ours.
"""
