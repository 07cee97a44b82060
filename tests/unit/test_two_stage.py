"""The two-stage design: what the second stage's channel is, what it costs, and what it is for."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from deniable.bulk.keystream import unsafe_seeded
from deniable.channels import Matrix, best, epsilon_of, k_ary
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.errors import PrivacyRefusedError, SchemaError
from deniable.estimation.best_sets import Program
from deniable.estimation.stages import _in_order, _order, _turned
from deniable.estimation.staircase import staircase
from deniable.estimation.two_stage import contrasts, second_channel, update_by_stages
from deniable.estimation.wish import Wish
from deniable.inference import independence_test
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Group, Tally, design_for, first_block, next_block
from deniable.schema import Attribute, Privacy, Schema, Survey

SKEWED = (np.array([0.7, 0.3]), np.array([0.2, 0.3, 0.5]))


def survey(*sizes: int, epsilon: float = 1.0, block_size: int = 600, **options: object) -> Survey:
    """Return a survey of attributes of some sizes, in two stages."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    named = {"block_size": block_size, **options}
    return Survey("stages", Schema(attributes), Privacy(epsilon, "two-stage", named))


def answers(margins: tuple[np.ndarray, ...], people: int, seed: int) -> np.ndarray:
    """Return independent answers."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.choice(len(p), people, p=p) for p in margins], axis=1)


def rows_of(channel: Matrix | object) -> np.ndarray:
    """Return P(report | answer) as floats."""
    assert isinstance(channel, Matrix)
    return np.array(channel.rows, dtype=np.float64) / 2**32


def test_contrasts_keep_every_margin_and_moves_keep_the_sum() -> None:
    """The directions asked about have no margins; all are orthonormal for plain answers."""
    table, moves, kept = contrasts(SKEWED)
    assert table.reshape(2, 3).sum(axis=1) == pytest.approx(SKEWED[0])
    assert moves.shape[1] == 1 + 2
    assert kept.shape[1] == (2 - 1) * (3 - 1)
    wide = kept.reshape(2, 3, -1)
    assert np.abs(wide.sum(axis=0)).max() < 1e-12
    assert np.abs(wide.sum(axis=1)).max() < 1e-12
    every = np.hstack([moves, kept])
    assert every.T @ (every / table[:, None]) == pytest.approx(np.eye(5), abs=1e-12)


def test_of_two_by_two_at_even_margins_the_best_question_is_the_diagonal() -> None:
    """Whether the answers agree is the one bit that says all; it is asked by Warner's coin."""
    even = np.full(2, 0.5)
    table, moves, kept = contrasts([even, even])
    wish = Wish(table, moves, kept, 1e-6 * np.eye(3), 1.0)
    rows = staircase(1.0, wish).rows()
    # The information of Warner's coin on the diagonal: ((e − 1)/(e + 1))².
    found = wish.efficient(wish.known + wish.information(rows)).item()
    assert found == pytest.approx(math.tanh(0.5) ** 2, rel=0.02)


def balanced_sets(shape: tuple[int, int], epsilon: float) -> tuple[np.ndarray, float]:
    """Return the best sets at even margins, and what a report of one of them tells.

    All cells, and all contrasts, are alike there, so that θ is the same for every set that is
    the same but for the order of rows and columns, and the information is one number: by
    the part of a set that is no margin of it, over the square of how much of a row it fills.
    """
    cells = math.prod(shape)
    sets = (np.arange(1, 2**cells - 1)[:, None] >> np.arange(cells) & 1).astype(float)
    wide = sets.reshape(-1, *shape)
    sizes = sets.sum(axis=1)
    rows = (wide.sum(axis=2) ** 2).sum(axis=1) / shape[1]
    columns = (wide.sum(axis=1) ** 2).sum(axis=1) / shape[0]
    beside = sizes - rows - columns + sizes**2 / cells
    told = (math.expm1(epsilon) / (1 + math.expm1(epsilon) * sizes / cells)) ** 2 * beside / cells
    contrasts_asked = (shape[0] - 1) * (shape[1] - 1)
    return sets[told > told.max() - 1e-12], float(told.max()) / contrasts_asked


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 8), (3, 5), (4, 4)])
def test_at_even_margins_the_search_finds_the_balanced_sets(
    shape: tuple[int, int], epsilon: float
) -> None:
    """What it finds tells as much as the best sets do, which are known in closed form."""
    _, told = balanced_sets(shape, epsilon)
    table, moves, kept = contrasts([np.full(size, 1 / size) for size in shape])
    known = 0.01 * told * np.eye(moves.shape[1] + kept.shape[1])
    wish = Wish(table, moves, kept, known, 1.0)
    found = wish.efficient(wish.information(staircase(epsilon, wish).rows()) + known)
    assert np.linalg.slogdet(found)[1] / kept.shape[1] == pytest.approx(math.log(told), abs=0.02)


@pytest.mark.parametrize(
    ("margins", "epsilon"),
    [
        (((0.24, 0.23, 0.25, 0.28), (0.25, 0.22, 0.26, 0.27)), 1.0),
        (((0.28, 0.21, 0.27, 0.24), (0.26, 0.26, 0.25, 0.23)), 1.0),
        (((0.48, 0.52), (0.13, 0.12, 0.14, 0.11, 0.12, 0.13, 0.12, 0.13)), 2.0),
    ],
)
def test_near_even_margins_the_search_is_not_left_behind_by_the_balanced_sets(
    margins: tuple[tuple[float, ...], ...], epsilon: float
) -> None:
    """The search does not come to a halt where other sets would tell more."""
    table, moves, kept = contrasts([np.array(margin) for margin in margins])
    known = 0.001 * np.eye(moves.shape[1] + kept.shape[1])
    wish = Wish(table, moves, kept, known, 0.85)
    sets, _ = balanced_sets((len(margins[0]), len(margins[1])), epsilon)
    odds = 1 + math.expm1(epsilon) * sets
    balanced = (odds / odds.sum(axis=0)[0]).T

    def worth(rows: np.ndarray) -> float:
        whole = wish.known + wish.share * wish.information(rows)
        return float(np.linalg.slogdet(wish.efficient(whole))[1])

    assert worth(staircase(epsilon, wish).rows()) > worth(balanced) - 0.01 * kept.shape[1]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_no_mixture_of_few_sets_tells_more(epsilon: float) -> None:
    """Random channels of the same level have no larger determinant, up to the gap allowed."""
    table, moves, kept = contrasts(SKEWED)
    known = 0.05 * np.eye(moves.shape[1] + kept.shape[1])
    wish = Wish(table, moves, kept, known, 0.85)

    def worth(rows: np.ndarray) -> float:
        whole = wish.known + wish.share * wish.information(rows)
        return float(np.linalg.slogdet(wish.efficient(whole))[1])

    found = worth(staircase(epsilon, wish).rows())
    rng = np.random.default_rng(1)
    odds = np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=6)))[1:-1]
    best_random = -np.inf
    for _ in range(300):
        # Pairs of complements make a channel whatever their shares.
        shares = np.maximum(rng.dirichlet(np.full(len(odds) // 2, 0.05)), 1e-12)
        pairs = np.concatenate([shares, shares[::-1]]) / (1 + math.exp(epsilon))
        best_random = max(best_random, worth((pairs[:, None] * odds).T))
    assert found > best_random - 0.02
    assert found > worth(np.array(_rows(k_ary(epsilon, 6))))


def _rows(channel: object) -> list[list[float]]:
    reports = list(channel.reports())  # type: ignore[attr-defined]  # a channel
    return [[float(channel.probability(y, x)) for y in reports] for x in range(6)]  # type: ignore[attr-defined]


def test_after_the_first_block_the_channel_is_for_dependence_and_costs_no_more() -> None:
    """The second block's matrix certifies at most the first one's level, and stays."""
    design = design_for(survey(2, 3))
    tally = rehearse(design, answers(SKEWED, 3_000, 2), stream=unsafe_seeded(2, 0))
    blocks = list(tally.blocks.values())
    first, second = (block.channels[0][0] for block in blocks[:2])
    assert second.kind == "matrix"
    assert epsilon_of(first) * 0.9999 < epsilon_of(second) <= epsilon_of(first)
    assert np.linalg.matrix_rank(rows_of(second)) == 6
    assert all(block.channels == blocks[1].channels for block in blocks[1:])


def test_the_device_checks_the_second_stage_for_itself() -> None:
    """It answers at what was agreed, and tosses no coin for a matrix that costs more."""
    design = design_for(survey(2, 3))
    tally = rehearse(design, answers(SKEWED, 1_200, 3))
    block = tally.blocks[1]
    answer = Answer((1, 2), design.sizes)
    report = Device(MemoryStorage(), Agreement(1.0)).respond(design, block, answer)
    assert report.block == block.digest
    matrix = block.channels[0][0]
    assert isinstance(matrix, Matrix)
    shifted = [list(row) for row in matrix.rows]
    shifted[0][0] += shifted[0][1] // 2
    shifted[0][1] -= shifted[0][1] // 2
    worse = next_block(design, first_block(design), ((Matrix(tuple(map(tuple, shifted))),),))
    with pytest.raises(PrivacyRefusedError):
        Device(MemoryStorage(), Agreement(1.0)).respond(design, worse, answer)


def test_what_has_no_dependence_to_ask_about_keeps_its_channel() -> None:
    """A single attribute, a group of too many cells, and one that nobody answered stay."""
    alone = design_for(survey(3, 3, k=1))
    tally = rehearse(alone, answers((SKEWED[1], SKEWED[1]), 1_500, 4))
    assert tally.blocks[1].channels == alone.channels
    large = design_for(survey(5, 5))
    many = rehearse(large, answers((np.full(5, 0.2),) * 2, 1_500, 5))
    assert many.blocks[1].channels == large.channels
    design = design_for(survey(2, 3))
    nobody = Tally(design, {0: first_block(design)}, {}, frozenset({"x"}))
    assert update_by_stages(design, first_block(design), nobody) == design.channels
    assert best(1.0, 6) == design.channels[0][0]


def test_both_stages_are_tested_together() -> None:
    """Every respondent counts, and a plain dependence is found."""
    design = design_for(survey(2, 2, epsilon=2.0))
    rng = np.random.default_rng(6)
    one = rng.integers(0, 2, 4_000)
    people = np.stack([one, np.where(rng.random(4_000) < 0.5, one, 1 - one)], axis=1)
    fair = independence_test(rehearse(design, people, joint=True), ["q0", "q1"], rng=rng)
    assert fair.people == 4_000
    assert fair.p_value > 1e-9
    people[:, 1] = np.where(rng.random(4_000) < 0.6, one, people[:, 1])
    found = independence_test(rehearse(design, people, joint=True), ["q0", "q1"], rng=rng)
    assert found.p_value < 1e-9


@pytest.mark.parametrize("people", [1, 3, 40])
def test_a_tiny_first_stage_gives_a_channel_all_the_same(people: int) -> None:
    """However few answered, the next block opens, at the same level and with an inverse."""
    design = design_for(survey(2, 3, block_size=people))
    tally = rehearse(design, answers(SKEWED, 2 * people, 7))
    (channel,) = tally.blocks[1].channels[0]
    assert epsilon_of(channel) <= epsilon_of(design.channels[0][0])
    if isinstance(channel, Matrix):
        assert np.linalg.matrix_rank(rows_of(channel)) == 6


def test_a_survey_must_say_how_many_the_first_stage_asks() -> None:
    """Without a size of blocks there is no first stage."""
    with pytest.raises(SchemaError, match="block_size"):
        Privacy(1.0, "two-stage", {})


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 2, 2)])
def test_newtons_bend_is_that_of_the_objective(shape: tuple[int, ...]) -> None:
    """BBᵀ is minus the second derivative of log det J in relative changes of θ, by differences."""
    shares = [0.5 ** np.arange(size, dtype=np.float64) for size in shape]
    null, nuisance, wanted = contrasts([np.asarray(one / one.sum()) for one in shares])
    known = 0.01 * np.eye(nuisance.shape[1] + wanted.shape[1])
    program = Program(1.7, Wish(null, nuisance, wanted, known, 0.85), 0.01)
    rng = np.random.default_rng(3)
    lines = program.lines(rng.integers(0, 2, (12, null.size)).astype(float))
    weights = rng.uniform(0.01, 0.05, 12)
    found = program.bent(program.seen(lines, weights))

    def slope(moved: np.ndarray) -> np.ndarray:
        theta = weights * (1 + moved)
        return weights * program.prices(lines, program.whole(lines, theta))

    step = 1e-5
    units = step * np.eye(12)
    second = np.stack([(slope(unit) - slope(-unit)) / (2 * step) for unit in units])
    assert np.allclose(found @ found.T, -second, atol=1e-6 * np.abs(second).max())


@pytest.mark.parametrize("shape", [(3, 2), (4, 2)])
def test_a_channel_for_attributes_in_another_order_is_that_of_the_group(
    shape: tuple[int, ...],
) -> None:
    """What is foreseen for groups of the same attributes in any order is worked out once."""
    margins = [np.array([0.5, 0.3, 0.2, 0.1])[:size] for size in shape]
    margins = [np.asarray(one / one.sum()) for one in margins]
    group = Group(tuple(range(len(shape))), shape)
    order = _order(group, margins.__getitem__)
    alike = _in_order(group, order)
    assert list(alike.sizes) == sorted(shape)
    first = k_ary(1.0, group.size)
    own = second_channel(first, group, margins.__getitem__, 3_000)
    made = second_channel(first, alike, margins.__getitem__, 3_000)
    turned = _turned(made, alike, order)
    assert isinstance(own, Matrix)
    assert isinstance(turned, Matrix)
    columns, others = (sorted(zip(*one.rows, strict=True)) for one in (own, turned))
    assert np.abs(np.subtract(columns, others)).max() <= 4
    assert isinstance(made, Matrix)  # which, left as it is, would belong to other cells
    wrong = sorted(zip(*made.rows, strict=True))
    assert np.abs(np.subtract(columns, wrong)).max() > 2**20
