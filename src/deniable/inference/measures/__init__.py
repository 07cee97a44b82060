"""The measures, one subject a module."""
