import numpy as np
import pyarrow as pa

from deniable import bulk, counting, estimation
from deniable.schema import Attribute, Privacy, Schema, Survey

PEOPLE = 50_000
rng = np.random.default_rng(11)
truth = np.array([[0.42, 0.10, 0.03], [0.18, 0.15, 0.12]])
cells = rng.choice(6, PEOPLE, p=truth.ravel())
answers = pa.table({"sex": cells // 3, "smokes": cells % 3})  # the secret, in two columns

sex = Attribute.nominal("sex", ["female", "male"])
smokes = Attribute.ordinal("smokes", ["never", "sometimes", "daily"])
survey = Survey("smoking", Schema((sex, smokes)), Privacy(epsilon=1.0, design="joint"))
reports = bulk.randomize(answers, survey)  # from here on nobody needs the answers

tally = counting.count(reports).tally()
table = estimation.estimate(tally, ["sex", "smokes"], rng=rng)
table = table.named({one.name: one.cell_names for one in survey.schema.attributes})

print(f"{PEOPLE:,} people at ε = 1: 95 % intervals (===) and the truth (o)\n")
print(f"{'':20}0       0.1       0.2       0.3       0.4       0.5")
columns = table.tidy()
for place, share in enumerate(truth.ravel().tolist()):
    line = [" "] * 51
    low, high = columns["low"][place], columns["high"][place]
    for at in range(round(100 * low), round(100 * high) + 1):
        line[at] = "="
    line[round(100 * share)] = "o"
    name = f"{columns['sex'][place]}, {columns['smokes'][place]}"
    print(f"{name:20}{''.join(line).rstrip()}")
print(f"\nThe reports are worth {table.total_worth:,.0f} plain answers.")
