"""The server: what it accepts, counts and shows. It never holds an answer."""

from deniable.collection.http import Settings, create_app
from deniable.collection.service import Collection, Terms
from deniable.collection.serving import address_of, listen, serve, serving
from deniable.collection.store import MemoryStore, Store, open_store
from deniable.collection.tokens import issue_token

__all__ = [
    "Collection",
    "MemoryStore",
    "Settings",
    "Store",
    "Terms",
    "address_of",
    "create_app",
    "issue_token",
    "listen",
    "open_store",
    "serve",
    "serving",
]
