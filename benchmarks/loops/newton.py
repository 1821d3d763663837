"""Newton's method for the root of a polynomial, from many starting points."""

QUICK, FULL = 80, 8_000


def setup(size):
    return size, [-6.0, 11.0, -6.5, 1.25], 1e-12


def newton(starts, coefficients, tolerance):
    total = 0.0
    steps = 0
    for s in range(starts):
        x = -5.0 + 15.0 * s / starts
        for _ in range(60):
            value = slope = 0.0
            for k in range(len(coefficients) - 1, -1, -1):
                slope = slope * x + value
                value = value * x + coefficients[k]
            steps += 1
            if slope == 0.0:
                break
            new = x - value / slope
            if abs(new - x) < tolerance:
                x = new
                break
            x = new
        total += x
    return total, steps
