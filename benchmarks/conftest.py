"""A benchmark ends with the script that started it."""

from workflow.config.lifetime import end_with_workflow

end_with_workflow()
