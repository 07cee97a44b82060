"""The routes, and nothing but the routes."""

from deniable.collection.http.app import create_app
from deniable.collection.http.settings import Settings

__all__ = ["Settings", "create_app"]
