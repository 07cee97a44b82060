from deniable.channels import best, channel_for, mean_error

PEOPLE = 10_000
NAMES = ["k-ary", "subset", "optimized-unary", "local-hash"]

print(f"Error of a share, {PEOPLE:,} people, every channel at the same certified ε\n")
print("ε    cells " + "".join(f"{name:>16}" for name in NAMES) + "  chosen")
for epsilon in (0.5, 1.0, 2.0):
    for size in (2, 4, 8, 16, 32):
        errors = [mean_error(channel_for(name, epsilon, size), PEOPLE) for name in NAMES]
        shown = "".join(f"{error:16.4f}" for error in errors)
        print(f"{epsilon:<4} {size:5} {shown}  {best(epsilon, size).kind}")
