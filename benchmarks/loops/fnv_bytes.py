"""The hash FNV-1a of 32 bits over bytes."""

import random

QUICK, FULL = 4_000, 400_000


def setup(size):
    return (random.Random(11).randbytes(size),)


def fnv_bytes(data):
    h = 0x811C9DC5
    for byte in data:
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h
