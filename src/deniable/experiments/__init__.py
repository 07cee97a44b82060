"""The published figures and tables, measured again, with what was published beside them."""
