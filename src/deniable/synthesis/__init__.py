"""From a table or a model to synthetic records."""
