"""The models around the attention: one file each, and in it one class without a leading _."""
