"""Counting judges many reports as the channel judges one, and loses none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import channels
from deniable.channels import LocalHash, Matrix
from deniable.counting.distinct import counter_of
from deniable.counting.possible import all_possible, possible
from deniable.errors import ReportError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNELS = [
    channels.k_ary(1.0, 4),
    channels.two_coin(1.0, [0.3, 0.7]),
    channels.subset(1.0, 5, 3),
    channels.rounded_laplace(1.0, 3),
    Matrix(((2**31, 2**31, 0), (2**31 - 1, 2**31 + 1, 0))),
    channels.symmetric_unary(1.0, 3),
    channels.optimized_unary(1.0, 33),
    LocalHash(2**30, 3, 5, prime=7),
]
NUMBERS = st.integers(-1, 8) | st.sampled_from([2**31, 2**32 - 1, 2**32, 2**63 - 1, -(2**63)])


@given(st.data(), st.sampled_from(CHANNELS))
def test_a_report_is_possible_where_the_channel_says_so(
    data: st.DataObject, channel: channels.Channel
) -> None:
    """Vectorized and one by one, the verdict is the same; zero probability is impossible too."""
    report = st.lists(NUMBERS, min_size=channel.width, max_size=channel.width)
    rows = data.draw(st.lists(report, min_size=1, max_size=20))
    wanted = []
    for row in rows:
        try:
            channel.check(tuple(row))
        except ReportError:
            wanted.append(False)
        else:
            wanted.append(any(channel.probability(tuple(row), x) for x in range(channel.size)))
    matrix = np.array(rows, np.int64).reshape(len(rows), channel.width)
    assert possible(channel, matrix).tolist() == wanted
    assert all_possible(channel, matrix) == all(wanted)


@given(
    st.lists(st.integers(1, 2**32), min_size=1, max_size=5).flatmap(
        lambda limits: st.tuples(
            st.just(limits),
            st.lists(st.tuples(*(st.integers(0, limit - 1) for limit in limits)), max_size=30),
        )
    )
)
def test_counters_count_like_a_dictionary(
    drawn: tuple[list[int], list[tuple[int, ...]]],
) -> None:
    """Histograms and packed keys give each different report once, ascending, with its count."""
    limits, reports = drawn
    counter = counter_of(limits)
    for part in (reports[::2], reports[1::2]):
        values = np.array(part, np.int64).reshape(len(part), len(limits))
        counter.add(values, None)
        counter.add(values, np.full(len(part), 3))
    values, counts = counter.result()
    wanted = Counter({report: 4 * times for report, times in Counter(reports).items()})
    found = list(map(tuple, values.tolist()))
    assert dict(zip(found, counts.tolist(), strict=True)) == wanted
    assert found == sorted(found)


@pytest.mark.parametrize("size", [2, 300])
def test_a_histogram_takes_any_integers(size: int) -> None:
    """Signed or not, narrow or wide, strided or not: a cell is a cell."""
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8"):
        cells = np.arange(200, dtype=np.int64) % min(size, 100)
        counter = counter_of([size])
        narrow: NDArray[np.integer[Any]] = cells.astype(dtype)
        counter.add(narrow[::2].reshape(-1, 1), None)
        assert counter.result()[1].sum() == 100
