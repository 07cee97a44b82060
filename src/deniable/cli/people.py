"""Whose answers a simulation uses: those of a file, a network's, or a made-up population's."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from deniable.errors import DataError, DeniableError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from deniable.experiments.network import Network
    from deniable.schema import Attribute, Survey


def answers_of(
    survey: Survey,
    people: int,
    *,
    data: Path | None = None,
    network: Path | None = None,
    rng: np.random.Generator,
) -> Iterable[Sequence[int]]:
    """Return so many people's answers, one cell for each attribute.

    Args:
        survey: What they are asked.
        people: How many there are.
        data: A CSV file with a column for each attribute, row by row and over again.
        network: A Bayesian network in the BIF notation, with a variable for each attribute.
        rng: Draws people from a network or a made-up population.
    """
    if data is not None and network is not None:
        problem = "answers come from one place only"
        raise DataError(problem, given="a file and a network", expected="--data or --network")
    if data is not None:
        return rows_of(data, survey, people)
    if network is not None:
        from deniable.experiments.network import read_network  # noqa: PLC0415 -- slow to load

        return _rows(drawn_from(read_network(network), survey, people, rng=rng))
    from deniable.collection.population import make_population  # noqa: PLC0415 -- slow to load

    return _rows(make_population(survey.schema.sizes, rng=rng).draw(people, rng=rng))


def _rows(answers: np.ndarray) -> Iterable[Sequence[int]]:
    rows: list[list[int]] = answers.tolist()
    return rows


def rows_of(path: Path, survey: Survey, people: int) -> Iterator[Sequence[int]]:
    """Yield the file's answers as cells, from the start again where it ends."""
    done = 0
    while done < people:
        before = done
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            _check_names(path, rows.fieldnames or (), survey)
            for row in rows:
                if done == people:
                    return
                yield survey.schema.encode({name: row[name] for name in survey.schema.names})
                done += 1
        if done == before:
            return


def _check_names(path: Path, found: Sequence[str], survey: Survey) -> None:
    missing = [name for name in survey.schema.names if name not in found]
    if missing:
        problem = f"{path.name} lacks the column {missing[0]!r}"
        expected = f"a column for every attribute; there is {nearest(missing[0], found)}"
        raise DataError(problem, expected=expected if found else "a line of names")


def drawn_from(
    network: Network, survey: Survey, people: int, *, rng: np.random.Generator
) -> np.ndarray:
    """Draw people from a network whose variables are the survey's attributes, and maybe others."""
    import numpy as np  # noqa: PLC0415 -- slow to load

    strangers = [name for name in survey.schema.names if name not in network.names]
    if strangers:
        problem = "the network has no variable for an attribute of the survey"
        raise DataError(problem, given=strangers, expected="one of " + ", ".join(network.names))
    drawn = network.sample(people, rng)
    columns = []
    for attribute in survey.schema.attributes:
        place = network.names.index(attribute.name)
        cells = np.array(_cells(attribute, network.categories[place]))
        columns.append(cells[drawn[:, place]])
    return np.column_stack(columns)


def _cells(attribute: Attribute, values: Iterable[str]) -> list[int]:
    """Return the category that each value of a network's variable means.

    The notation has no spaces: ``once_or_twice`` is "once or twice", ``16_20`` is "[16, 20)".
    """
    plain = {_plain(name): cell for cell, name in enumerate(attribute.cell_names)}
    found = []
    for value in values:
        cell = plain.get(_plain(value))
        if cell is None:
            try:
                cell = attribute.index(value)
            except DeniableError as error:
                problem = f"a value of the network is no category of {attribute.name!r}"
                raise DataError(problem, given=value, expected=" or ".join(plain)) from error
        found.append(cell)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name).strip("_").casefold()
