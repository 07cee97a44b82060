from collections import Counter

from deniable.channels import format_epsilon
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.protocol import Report, design_for, first_block
from deniable.schema import Attribute, Privacy, Schema, Survey

drugs = Attribute.ordinal("drugs", ["never", "once or twice", "monthly", "weekly"])
survey = Survey("habits", Schema((drugs,)), Privacy(epsilon=1.0, design="independent"))
design = design_for(survey)
block = first_block(design)


def respond(answer: str) -> tuple[Device, Report]:
    """Let a new device answer; return it and what would leave it."""
    device = Device(MemoryStorage(), Agreement(epsilon=1.0))
    given = Answer.of(survey.schema, {"drugs": answer})
    return device, device.respond(design, block, given)


device, report = respond("weekly")
print("computed  ", device.examine(design, block))
print("sent      ", report.to_bytes().decode().replace(',"', ',\n            "'))
print("remembers ", f"having spent ε of at most {format_epsilon(device.ledger.total)}")

print("\nWhat 10,000 devices reported, by what their respondents had answered:\n")
print(f"{'':16}" + "".join(f"{name:>15}" for name in drugs.cell_names))
for answer in drugs.cell_names:
    seen = Counter(respond(answer)[1].values[0][0] for _ in range(2_500))
    shares = "".join(f"{seen[cell] / 2_500:15.3f}" for cell in range(drugs.size))
    print(f"{answer:16}{shares}")
