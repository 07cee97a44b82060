"""The routes, and nothing but the routes.

On Starlette, with the hot path as bare ASGI: the frameworks that write an interface by
themselves cost two to four times as much for each report (``./run bench frameworks``), so
``spec/openapi.json`` is written by hand and a test holds the server to it.
"""

from deniable.collection.http.app import create_app
from deniable.collection.http.settings import Settings

__all__ = ["Settings", "create_app"]
