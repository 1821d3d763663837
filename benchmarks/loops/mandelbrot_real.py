"""The Mandelbrot set with two floats."""

QUICK, FULL = 24, 160


def setup(size):
    return size, size, 60


def mandelbrot_real(width, height, limit):
    inside = 0
    total = 0
    for row in range(height):
        y0 = -1.5 + 3.0 * row / height
        for column in range(width):
            x0 = -2.0 + 3.0 * column / width
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                n += 1
            if n == limit:
                inside += 1
            total += n
    return inside, total
