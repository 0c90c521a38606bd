"""Pictures with captions for captioning."""
