import numpy as np

from deniable.errors import SharingError
from deniable.sharing import (
    Aggregator,
    gather,
    send_shares,
    shares_for,
    sheet_of_pairs,
    sum_together,
)

SIZES = (2, 3, 2)
rng = np.random.default_rng(1)
answers = rng.integers(0, SIZES, (200, len(SIZES)))  # one row a person, known to that person only
sheet = sheet_of_pairs(SIZES)
places = sheet.places(answers)

# n parties: everybody deals to everybody, and what is said aloud adds up.
sums = sum_together([sheet.vector(row) for row in places])
print("n parties      ", sheet.tables(sums)[0, 1].tolist())

# The practical form: three aggregators, one share of each device for each of them.
aggregators = [Aggregator(sheet.width, fewest=100) for _ in range(3)]
send_shares(sheet, places, aggregators)
sums, people = gather(sheet, aggregators)
print("3 aggregators  ", sheet.tables(sums)[0, 1].tolist(), f"of {people} people")

# What one aggregator gets of somebody is noise; a second total of others is refused.
first, second, third = shares_for(sheet.vector(places[0]), 3)
print("one share      ", first[:3].tolist(), "…")
try:
    aggregators[0].total(list(aggregators[0].identities)[:150])
except SharingError as refusal:
    print("asked again    ", refusal)
