"""Randomize a whole data frame or file, as if everyone in it had had a device."""

from __future__ import annotations

import os
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import pyarrow as pa

from deniable.bulk.keystream import Keystream, unsafe_seeded
from deniable.bulk.respondents import prepare
from deniable.bulk.sink import check_target, open_sink
from deniable.bulk.source import open_file, open_frame
from deniable.channels import fresh_id
from deniable.errors import AnswerError, DataError, nearest
from deniable.protocol import Design, design_for, encode_bytes, first_block
from deniable.protocol.at_rest import PROVENANCE_KEY, Provenance
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from deniable.bulk.respondents import Order, Respondents
    from deniable.bulk.source import Frame, Source
    from deniable.protocol import Block

    Promise: TypeAlias = Survey | Design


class How(TypedDict, total=False):
    """What may be said besides, by keyword.

    Attributes:
        block: The block whose channels are used; the design's first.
        order: ``"shuffled"`` (the default) puts the reports of each chunk of up to 2¹⁸ rows
            in a new order, so that they cannot be laid beside the answers or beside a second
            randomization of them. ``"kept"`` leaves report i to row i. ε holds either way.
        ids: Give each report an id of 16 random bytes.
        threads: How many work at once; as many as there are processors.
        progress: Called with the number of rows done since the last call.
        unsafe_seed: Make the same reports of the same answers again. Who knows the seed
            knows every answer.
    """

    block: Block | None
    order: Order
    ids: bool
    threads: int | None
    progress: Callable[[int], None] | None
    unsafe_seed: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """A file of reports.

    Attributes:
        path: Where it is.
        rows: How many respondents it holds.
        provenance: What it says about itself.
    """

    path: Path
    rows: int
    provenance: Provenance


def randomize(frame: Frame, promise: Promise, **how: Unpack[How]) -> pa.Table:
    """Return the reports of everyone in a data frame, laid out as ``protocol.at_rest`` says.

    Args:
        frame: Answers, one row a respondent, one column an attribute: a pandas, Polars,
            PyArrow or DuckDB frame, or any other that Narwhals knows. Other columns are
            neither read nor carried along.
        promise: A survey, whose answers are names, codes or numbers; or a design, whose
            answers are cells (0, 1, …) already.
        **how: See ``How``.

    Raises:
        AnswerError: Some answers lie outside their domain. They are counted, not named.
        DataError: A column is missing.

    >>> from deniable.schema import Attribute, Privacy, Schema, Survey
    >>> schema = Schema((Attribute.nominal("sick", ["no", "yes"]),))
    >>> survey = Survey("demo", schema, Privacy(1.0, "independent"))
    >>> randomize(pa.table({"sick": ["no", "yes", "yes"]}), survey).num_rows
    3
    """
    respondents, provenance = _agree(promise, how)
    source = open_frame(frame, respondents.names)
    batches = list(_reports(source, respondents, how))
    schema = respondents.schema.with_metadata({PROVENANCE_KEY: provenance.to_bytes()})
    return pa.Table.from_batches(batches, respondents.schema).cast(schema)


def randomize_file(
    source: str | Path,
    target: str | Path,
    promise: Promise,
    *,
    replace: bool = False,
    **how: Unpack[How],
) -> Written:
    """Randomize a CSV or Parquet file into another, in bounded memory.

    A Parquet file of reports says in its schema all that counting and estimating need; a
    CSV file has a second file beside it for that. Nothing is written unless every answer
    has its cell.

    Args:
        source: The answers.
        target: Where the reports go; the ending of its name decides the format.
        promise: As for ``randomize``.
        replace: Whether a file that is there already may be replaced.
        **how: See ``How``.
    """
    source, target = Path(source), Path(target)
    check_target(target, source, replace=replace)
    respondents, provenance = _agree(promise, how)
    answers = open_file(source, respondents.names)
    about = provenance.to_bytes()
    schema = respondents.schema.with_metadata({PROVENANCE_KEY: about})
    rows = 0
    with open_sink(target, schema, about) as sink:
        for batch in _reports(answers, respondents, how):
            sink.write(batch)
            rows += batch.num_rows
    return Written(target, rows, provenance)


def _agree(promise: Promise, how: How) -> tuple[Respondents, Provenance]:
    """Settle design and block, and name this randomization."""
    _check_words(how)
    if not isinstance(promise, Design | Survey):
        problem = "reports are made under a survey or a design, and this is neither"
        expected = "such as Survey.load('survey.toml')"
        raise DataError(problem, given=type(promise).__name__, expected=expected)
    if isinstance(promise, Design):
        design, schema, document = promise, None, None
    else:
        design, schema, document = design_for(promise), promise.schema, promise.to_dict()
    block = how.get("block") or first_block(design)
    respondents = prepare(
        design, block, schema, order=how.get("order", "shuffled"), ids=how.get("ids", False)
    )
    seed = how.get("unsafe_seed")
    name = fresh_id() if seed is None else unsafe_seeded(seed, -1).words(4).tobytes()
    return respondents, Provenance(design, (block,), encode_bytes(name), document)


def _check_words(how: How) -> None:
    """Refuse a word that means nothing, which would otherwise be passed over."""
    for word in how:
        if word not in How.__annotations__:
            message = (
                f"there is no keyword {word!r}; did you mean {nearest(word, How.__annotations__)}?"
            )
            raise TypeError(message)
    threads = how.get("threads")
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        problem = "threads must be a whole number above 0"
        raise DataError(problem, given=threads, expected="1 or more; all processors without it")


def _reports(source: Source, respondents: Respondents, how: How) -> Iterator[pa.RecordBatch]:
    """Yield the reports of each chunk in order; raise at the end if some had no cell.

    After the first answer outside its domain nothing is randomized any more, but all the
    others like it are counted.
    """
    outside: Counter[str] = Counter()

    def work(number: int, answers: pa.Table) -> tuple[int, pa.RecordBatch | None]:
        cells, faults = respondents.cells(answers)
        outside.update(faults)
        if outside:
            return answers.num_rows, None
        stream = _stream(how.get("unsafe_seed"), number)
        return answers.num_rows, respondents.randomize(cells, stream)

    progress = how.get("progress") or _ignore
    threads = how.get("threads") or _processors()
    chunks = enumerate(source.chunks(respondents.rows_at_once))
    with ThreadPoolExecutor(threads, "deniable-bulk") as pool:
        # One chunk more than there are threads, so that none waits for the reader.
        ahead = deque(pool.submit(work, *chunk) for chunk in islice(chunks, threads + 1))
        while ahead:
            rows, batch = ahead.popleft().result()
            ahead.extend(pool.submit(work, *chunk) for chunk in islice(chunks, 1))
            if batch is not None and not outside:
                yield batch
            progress(rows)
    if outside:
        raise _refusal(outside, respondents)


def _processors() -> int:
    """Return how many processors this process may use, where the system tells that."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _stream(seed: int | None, chunk: int) -> Keystream:
    """Return a keystream for one chunk: no key outlives it or is known to two threads."""
    return Keystream() if seed is None else unsafe_seeded(seed, chunk)


def _refusal(outside: Counter[str], respondents: Respondents) -> AnswerError:
    """Count the answers that have no cell, and say what the first such column may hold."""
    first = next(domain for domain in respondents.domains if domain.name in outside)
    counted = ", ".join(f"{count:,} in {name!r}" for name, count in sorted(outside.items()))
    problem = f"some answers are missing or lie outside their domain: {counted}"
    expected = f"in {first.name!r} {first.expected}; nothing was written"
    return AnswerError(problem, expected=expected)


def _ignore(rows: int) -> None:
    del rows
