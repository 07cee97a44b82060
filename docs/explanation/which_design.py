from deniable.planning import plan
from deniable.schema import Attribute, Privacy, Schema, Survey

PEOPLE = 1_000
DESIGNS = ["ask-one k=2", "ask-one k=3", "ask-one k=4", "views k=2", "independent", "joint"]


def survey(count: int, cells: int, epsilon: float) -> Survey:
    """Return a survey of attributes that are all alike."""
    attributes = [
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(cells)])
        for place in range(count)
    ]
    return Survey("example", Schema(tuple(attributes)), Privacy(epsilon, "ask-one", {"k": 2}))


print(f"{PEOPLE:,} people, all pairs: how many plain answers each table is worth\n")
print("attributes     ε " + "".join(f"{name:>12}" for name in DESIGNS) + "   best")
for count, cells in ((6, 2), (6, 4), (20, 2), (20, 4)):
    for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0):
        made = plan(survey(count, cells, epsilon), PEOPLE)
        worth = {option.label: option.worth(PEOPLE) for option in made.options}
        shown = "".join(
            f"{worth[name]:12.3g}" if name in worth else f"{'–':>12}" for name in DESIGNS
        )
        print(f"{count:2} of {cells} cells {epsilon:4g}{shown}   {made.recommended.label}")
