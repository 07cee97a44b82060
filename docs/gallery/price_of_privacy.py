import math

from deniable.channels import k_ary, variances

SHARE, WIDTH = 0.1, 0.02  # one in ten says yes; known to within ± 2 points


def people_for(epsilon: float) -> int:
    """Return how many people a 95 % interval of ± WIDTH needs."""
    variance = variances(k_ary(epsilon, 2), [1 - SHARE, SHARE])[1]
    return math.ceil(1.96**2 * float(variance) / WIDTH**2)


plain = math.ceil(1.96**2 * SHARE * (1 - SHARE) / WIDTH**2)
print(f"People needed to know a share of {SHARE} to within ± {WIDTH}\n")
print("    ε     people   for each who answers openly")
for epsilon in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
    people = people_for(epsilon)
    factor = people / plain
    print(f"{epsilon:5}  {people:9,}  {factor:6.1f}  {'█' * round(10 * math.log2(factor + 0.5))}")
print(f" open  {plain:9,}")
