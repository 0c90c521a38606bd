"""What users write, read and checked: config.yaml, the files of scales, and questions."""
