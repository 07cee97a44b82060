"""The table ``privacy`` of a survey file: the promise and its design, read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from deniable.schema.elements import plain_number
from deniable.schema.privacy import (
    DESIGNS,
    LEVELS,
    OPTIONS,
    Privacy,
    epsilon_fault,
    frozen,
    option_faults,
    with_given,
)

if TYPE_CHECKING:
    from deniable.schema.place import Place

PRIVACY_KEYS: Final = ("epsilon", "level", "design", "repeats")
_OPTION_KEYS: Final = tuple(dict.fromkeys(key for keys in OPTIONS.values() for key in keys))


def read_privacy(place: Place) -> Privacy | None:
    """Read the table; None if anything about it is wrong."""
    faults_before = len(place.findings.found)
    named = place.value.get("design", DESIGNS[0]) if isinstance(place.value, dict) else None
    design = next((known for known in DESIGNS if known == named), None)
    options = OPTIONS[design] if design else _OPTION_KEYS
    table = place.table((*PRIVACY_KEYS, *options), required=("epsilon",))
    if table is None:
        return None
    if "epsilon" in table:
        fault = epsilon_fault(table["epsilon"].value)
        if fault:
            told = with_given(fault, table["epsilon"].value)
            table["epsilon"].fault(f"the level of privacy {told}")
    if "design" in table:
        table["design"].one_of(DESIGNS)
    level = table["level"].one_of(LEVELS) if "level" in table else LEVELS[0]
    repeats = table["repeats"].integer() if "repeats" in table else 1
    if repeats is not None and repeats < 1:
        table["repeats"].fault(f"expected a whole number above 0, not {repeats}")
    given = {key: _plain(table[key].value) for key in table if key in options}
    if design:
        for key, fault in option_faults(design, given):
            place.below(key, None).fault(f"this {with_given(fault, given.get(key))}")
    if len(place.findings.found) > faults_before or design is None or repeats is None:
        return None
    return Privacy(
        cast("float", table["epsilon"].value),
        design,
        given,
        repeats,
        "attribute" if level == "attribute" else "respondent",
    )


def _plain(value: object) -> object:
    """Read 2.0 as 2, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else frozen(value)


def written_privacy(privacy: Privacy) -> dict[str, object]:
    """Write the table, the inverse of ``read_privacy``."""
    table: dict[str, object] = {
        "epsilon": plain_number(float(privacy.epsilon)),
        "level": privacy.level,
        "design": privacy.design,
        "repeats": privacy.repeats,
    }
    return table | {key: _listed(value) for key, value in privacy.options.items()}


def _listed(value: object) -> object:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value
