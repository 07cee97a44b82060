import math

import numpy as np

from deniable.estimation import estimate
from deniable.planning.rehearsal import rehearse
from deniable.protocol import attribute_epsilons, coverage_of, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

EPSILON, PEOPLE, RUNS = 3.0, 10_000, 12
NAMES, SIZES = ("smokes", "drinks", "sleeps", "anxious"), (2, 3, 2, 2)
DESIGNS = [
    Privacy(EPSILON, "ask-one", {"k": 2}),
    Privacy(EPSILON, "views", {"k": 2}),
    Privacy(EPSILON, "rrba", {"block_size": 1_000}),
    Privacy(EPSILON, "clusters", {"clusters": [["smokes", "drinks"], ["sleeps", "anxious"]]}),
    Privacy(EPSILON, "independent"),
    Privacy(EPSILON, "joint"),
]

rng = np.random.default_rng(1)
truth = rng.dirichlet(np.full(math.prod(SIZES), 0.7))
attributes = [
    Attribute.nominal(n, [f"c{c}" for c in range(s)]) for n, s in zip(NAMES, SIZES, strict=True)
]
pairs = truth.reshape(SIZES).sum(axis=(2, 3)), truth.reshape(SIZES).sum(axis=(1, 3))

print(f"ε = {EPSILON:g} per answer, {PEOPLE:,} people, mean of {RUNS} runs")
print("root mean squared error of a cell, by maximum likelihood\n")
print("design        views   ε attr.   smokes × drinks   smokes × sleeps")
for privacy in DESIGNS:
    name = privacy.design
    design = design_for(Survey("habits", Schema(tuple(attributes)), privacy))
    squares = np.zeros(2)
    for _ in range(RUNS):
        cells = rng.choice(truth.size, PEOPLE, p=truth)
        answers = np.stack(np.unravel_index(cells, SIZES), axis=1)
        tally = rehearse(design, answers, joint=name in {"clusters", "independent"})
        for place, asked in enumerate((["smokes", "drinks"], ["smokes", "sleeps"])):
            table = estimate(tally, asked, rng=rng, method="maximum-likelihood")
            squares[place] += np.mean((table.estimate - pairs[place]) ** 2) / RUNS

    level = max(attribute_epsilons(design, design.channels))
    first, second = np.sqrt(squares)
    print(f"{name:<14}{coverage_of(design).views:>5}{level:>10.2f}{first:>16.4f}{second:>18.4f}")
