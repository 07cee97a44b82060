import numpy as np

from deniable.channels import k_ary
from deniable.estimation import Experiment, estimate
from deniable.estimation.climb import em_step, likelihood_of
from deniable.estimation.methods.held_out import product_of_margins
from deniable.estimation.observation import observe
from deniable.estimation.study import Study

# Three attributes of six categories, each leaning on the one before: 216 cells.
rng = np.random.default_rng(3)
lean = 0.6 * np.eye(6) + 0.4 / 6
truth = np.einsum("a,ab,bc->abc", rng.dirichlet(np.ones(6)), lean, lean)
names, channels = ("a", "b", "c"), (k_ary(2.0, 6),) * 3
evidence = Study(names, truth, (Experiment(3000, channels, ((0,), (1,), (2,))),)).draw(rng)


def off(table: np.ndarray) -> float:
    """Return the total variation from the truth."""
    return float(abs(table - truth).sum()) / 2


sights = observe(evidence, names).sights
table = product_of_margins(evidence, names)
base = likelihood_of(sights, table)
print("EM steps  log-likelihood gained  total variation from the truth")
done = 0
for steps in (0, 1, 3, 10, 30, 100, 300, 1000):
    while done < steps:
        table, done = em_step(sights, table), done + 1
    print(f"{steps:8}  {likelihood_of(sights, table) - base:22.1f}  {off(table):.3f}")
for method in ("maximum-likelihood", "held-out-em", "default"):
    found = estimate(evidence, names, rng=rng, method=method)
    print(f"{method}: {off(found.estimate):.3f}")
