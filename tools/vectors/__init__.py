"""The test vectors of spec/vectors/: one module for each kind, one function for each file."""

from __future__ import annotations

from typing import Any, TypeAlias

Case: TypeAlias = dict[str, Any]
Cases: TypeAlias = tuple[str, list[Case]]
"""What a file is about, and its cases."""
