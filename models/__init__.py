"""What is computed: attention as four choices, and the nets around it. Imports torch and nothing
else of ours.
"""
