"""Ask people sensitive questions without ever holding their true answers."""

__version__ = "0.1.0.dev0"
