import math

from deniable.channels import KAry, epsilon_of, format_epsilon
from deniable.channels.coin import WORD

print("truth told         published:   certified:   a guess that believes the")
print("with prob.  cells  ln(1/(1−p))  the true ε   report is right, against")
for share in (1 / 4, 1 / 2, 3 / 4):
    for cells in (2, 4, 16, 64):
        channel = KAry(int(share * WORD), cells)
        published = math.log(1 / (1 - share))
        certified = format_epsilon(epsilon_of(channel))
        right = float(channel.probability((0,), 0))
        print(
            f"{share:<10} {cells:6} {published:12.3f} {certified:>12}   "
            f"{right:5.0%} of cases, not {1 / cells:.0%}"
        )
