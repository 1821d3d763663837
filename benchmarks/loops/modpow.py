"""Modular powers by squaring."""

QUICK, FULL = 60, 20_000


def setup(size):
    return size, 1_000_003, 998_244_353


def power(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def modpow(count, exponent, modulus):
    total = 0
    for k in range(count):
        total = (total + power(k + 2, exponent + k, modulus)) % modulus
    return total
