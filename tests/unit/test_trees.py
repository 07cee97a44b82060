"""Trees and junction trees: what they are made of, what comes out of them, what they refuse."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.channels import k_ary
from deniable.errors import EstimationError
from deniable.estimation import METHODS, Experiment
from deniable.estimation.branches import Branch, JunctionTree
from deniable.estimation.growth import choose_parents, fit_junction_tree, fit_tree, grow, most_even
from deniable.estimation.pairs import Pairs, mutual_information, pairs_of
from deniable.estimation.study import Study

NAMES = ("a", "b", "c", "d")
SIZES = (2, 3, 2, 3)


def dice(seed: int = 1) -> np.random.Generator:
    """Return dice that fall the same way every time."""
    return np.random.default_rng(seed)


def given(*shape: int, seed: int = 0) -> np.ndarray:
    """Return a random distribution along the last axis."""
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1])


TREE = JunctionTree(
    NAMES,
    SIZES,
    (
        Branch(1, (), given(3)),
        Branch(0, (1,), given(3, 2)),
        Branch(2, (0, 1), given(2, 3, 2)),
        Branch(3, (1, 2), given(3, 2, 3)),
    ),
)
JOINT = np.einsum("b,ba,abc,bcd->abcd", *(branch.given for branch in TREE.branches))


def pairs_in(joint: np.ndarray) -> Pairs:
    """Return the exact tables of all pairs of a joint distribution."""
    axes = range(joint.ndim)
    margins = tuple(joint.sum(axis=tuple(o for o in axes if o != a)) for a in axes)
    tables = {
        pair: joint.sum(axis=tuple(o for o in axes if o not in pair))
        for pair in combinations(axes, 2)
    }
    information = {pair: mutual_information(table) for pair, table in tables.items()}
    return Pairs(tuple(map(str, axes)), margins, tables, information)


@pytest.mark.parametrize("ways", [1, 2, 3, 4])
def test_any_table_is_the_sum_of_the_whole_joint(ways: int) -> None:
    """Every table of every order of attributes equals the one summed from all 36 cells."""
    for places in combinations(range(4), ways):
        for order in (places, places[::-1]):
            others = tuple(axis for axis in range(4) if axis not in order)
            summed = JOINT.sum(axis=others)
            wanted = summed.transpose([sorted(order).index(axis) for axis in order])
            found = TREE.table([NAMES[place] for place in order])
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_synthetic_people_follow_the_joint() -> None:
    """χ² of 40,000 people over 36 cells; a right sampler fails once in 10¹⁰."""
    people = TREE.sample(40_000, rng=dice())
    counts = np.zeros(SIZES)
    np.add.at(counts, tuple(people.T), 1)
    assert chisquare(counts.reshape(-1), 40_000 * JOINT.reshape(-1)).pvalue > 1e-10
    wrong = JunctionTree(
        NAMES, SIZES, (*TREE.branches[:3], Branch(3, (1, 2), given(3, 2, 3, seed=5)))
    )
    counts = np.zeros(SIZES)
    np.add.at(counts, tuple(wrong.sample(40_000, rng=dice()).T), 1)
    assert chisquare(counts.reshape(-1), 40_000 * JOINT.reshape(-1)).pvalue < 1e-10


def spanning_trees(nodes: int) -> list[tuple[tuple[int, int], ...]]:
    """Return all spanning trees, from their Prüfer codes."""
    trees = []
    for code in product(range(nodes), repeat=nodes - 2):
        degree = [1 + code.count(node) for node in range(nodes)]
        edges = []
        for node in code:
            leaf = min(other for other in range(nodes) if degree[other] == 1)
            edges.append((leaf, node))
            degree[leaf] -= 1
            degree[node] -= 1
        last, end = (node for node in range(nodes) if degree[node] == 1)
        edges.append((last, end))
        trees.append(tuple((min(edge), max(edge)) for edge in edges))
    return trees


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_the_best_of_all_trees(seed: int) -> None:
    """Of all 125 trees of five attributes none has more mutual information (Chow & Liu)."""
    joint = (
        np.random.default_rng(seed)
        .dirichlet(np.full(2 * 2 * 3 * 2 * 2, 0.5))
        .reshape(2, 2, 3, 2, 2)
    )
    pairs = pairs_in(joint)
    tree = grow(pairs, 1)
    found = sum(pairs.between(int(first), int(second)) for first, second in tree.edges)
    best = max(sum(pairs.information[edge] for edge in edges) for edges in spanning_trees(5))
    assert found == pytest.approx(best)
    for first, second in tree.edges:  # and the pairs that hang together are kept exactly
        kept = tree.table([first, second])
        np.testing.assert_allclose(kept, pairs.table(int(first), int(second)), atol=1e-12)


def test_filling_in_keeps_every_pair_and_adds_nothing() -> None:
    """Raked from the product, all pairs are met and no three-way odds ratio is made up."""
    joint = np.random.default_rng(3).dirichlet(np.full(12, 2.0)).reshape(2, 3, 2)
    pairs = pairs_in(joint)
    table = most_even((0, 1, 2), pairs)
    for (first, second), wanted in pairs.tables.items():
        (other,) = {0, 1, 2} - {first, second}
        np.testing.assert_allclose(table.sum(axis=other), wanted, atol=1e-6)
    logs = np.log(table)
    threefold = logs[0] - logs[1]
    threefold = threefold[:, 0] - threefold[:, 1]
    np.testing.assert_allclose(threefold, threefold[0], atol=1e-3)


CHAIN = np.einsum(
    "a,ab,bc,cd->abcd",
    np.array([0.4, 0.6]),
    np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]]),
    np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]),
    np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]),
)
WHOLE = Study(
    NAMES,
    CHAIN,
    (Experiment(20_000, tuple(k_ary(3.0, size) for size in SIZES), ((0,), (1,), (2,), (3,))),),
)
PAIRS_ONLY = Study(
    NAMES,
    CHAIN,
    tuple(
        Experiment(8000, (k_ary(3.0, SIZES[a] * SIZES[b]),), ((a, b),))
        for a, b in combinations(range(4), 2)
    ),
)


@pytest.mark.parametrize("fit", [fit_tree, fit_junction_tree])
@pytest.mark.parametrize("study", [WHOLE, PAIRS_ONLY])
def test_a_chain_is_found_through_randomization(fit: object, study: Study) -> None:
    """The edges that made the data hang together, and the whole joint is near the truth.

    The table nobody answered together comes out as well. With 20,000 people at ε = 3 an
    edge's score beats a wrong one's by dozens of standard errors.
    """
    assert callable(fit)
    model = fit(study.draw(dice()), rng=dice())
    edges = {frozenset(edge) for edge in model.edges}
    assert {frozenset("ab"), frozenset("bc"), frozenset("cd")} <= edges
    assert np.abs(model.table(NAMES) - CHAIN).sum() / 2 < 0.06
    flat = np.einsum(
        "a,b,c,d->abcd", *(CHAIN.sum(axis=tuple(o for o in range(4) if o != a)) for a in range(4))
    )
    assert np.abs(flat - CHAIN).sum() / 2 > 0.3  # independence would be caught


def test_independent_attributes_do_not_hang_together() -> None:
    """No parents are chosen where nothing depends on anything, and the reason says so."""
    truth = np.einsum("a,b,c->abc", [0.5, 0.5], [0.2, 0.3, 0.5], [0.6, 0.4])
    channels = (k_ary(1.0, 2), k_ary(1.0, 3), k_ary(1.0, 2))
    study = Study(("a", "b", "c"), truth, (Experiment(3000, channels, ((0,), (1,), (2,))),))
    parents = [choose_parents(study.draw(dice(seed)), rng=dice())[0] for seed in range(12)]
    assert parents.count(0) >= 4
    found = [fit_junction_tree(study.draw(dice(seed)), rng=dice()) for seed in range(12)]
    assert any("no dependence" in one.reason for one in found)
    errors = [np.abs(one.table(("a", "b", "c")) - truth).sum() / 2 for one in found]
    assert max(errors) < 0.25


def test_the_number_of_threads_changes_nothing() -> None:
    """One thread and three give the same model."""
    evidence = PAIRS_ONLY.draw(dice())
    one = fit_junction_tree(evidence, rng=dice(), threads=1)
    three = fit_junction_tree(evidence, rng=dice(), threads=3)
    np.testing.assert_array_equal(one.table(NAMES), three.table(NAMES))
    assert one.reason == three.reason


def test_progress_is_told_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that takes long says how many pairs it has done."""
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(
        "deniable.estimation.pairs.time", SimpleNamespace(monotonic=lambda: next(clock))
    )
    told: list[str] = []
    pairs_of(WHOLE.draw(dice()), progress=told.append)
    assert told[-1] == "6 of 6 pairs"


def test_a_table_nobody_answered_together_says_so() -> None:
    """It has shares, no interval, and a note; a pair that was answered has an interval."""
    source = PAIRS_ONLY.draw(dice())
    give = METHODS["tree"].prepare(source, rng=dice())
    triple, pair = give(("a", "b", "c")), give(("a", "b"))
    assert any("nobody answered all these attributes together" in note for note in triple.notes)
    assert np.all(np.isnan(triple.interval().low))
    assert np.all(pair.interval().covers(CHAIN.sum(axis=(2, 3))))
    assert pair.method == "tree"
    again = METHODS["tree"].estimate(source, ("a", "b"), rng=dice())
    np.testing.assert_array_equal(pair.estimate, again.estimate)


def test_an_attribute_never_asked_is_named() -> None:
    """A tree of attributes of which one was never asked cannot be fitted."""
    only = Study(("a", "b"), np.full((2, 2), 0.25), (Experiment(100, (k_ary(1.0, 2),), ((0,),)),))
    with pytest.raises(EstimationError, match="anything about 'b'"):
        fit_tree(only.draw(dice()), rng=dice())


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [(["z"], "no attribute 'z'"), ([], "one attribute or more"), (["a", "a"], "each once")],
)
def test_a_model_refuses_what_is_no_table(wrong: list[str], sentence: str) -> None:
    """Unknown, none and doubled attributes are sentences."""
    with pytest.raises(EstimationError, match=sentence):
        TREE.table(wrong)


def test_forty_attributes_take_no_more_memory_than_their_pairs() -> None:
    """A chain of 40 attributes: 2⁴⁰ cells, and any table of six comes out right."""
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    names = tuple(f"v{place}" for place in range(40))
    branches = (
        Branch(0, (), np.array([0.5, 0.5])),
        *(Branch(v, (v - 1,), step) for v in range(1, 40)),
    )
    tree = JunctionTree(names, (2,) * 40, branches)
    power = np.linalg.matrix_power(step, 39)
    np.testing.assert_allclose(tree.table(["v0", "v39"]), 0.5 * power, atol=1e-12)
    assert tree.table(["v0", "v9", "v20", "v21", "v33", "v39"]).sum() == pytest.approx(1)
    with pytest.raises(EstimationError, match="too large"):
        tree.table(names)
