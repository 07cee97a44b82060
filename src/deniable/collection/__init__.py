"""The server: what it accepts, counts and shows. It never holds an answer."""
