"""The longest Collatz sequence below a bound."""

QUICK, FULL = 300, 15_000


def setup(size):
    return (size,)


def collatz(bound):
    best = 0
    longest = 0
    for start in range(1, bound):
        n = start
        length = 1
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            length += 1
        if length > longest:
            longest = length
            best = start
    return best, longest
