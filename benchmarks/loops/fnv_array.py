"""The hash FNV-1a of 32 bits over an array of uint8."""

import numpy as np

QUICK, FULL = 4_000, 300_000


def setup(size):
    return (np.random.default_rng(12).integers(0, 256, size, dtype=np.uint8),)


def fnv_array(data):
    h = 0x811C9DC5
    for byte in data:
        h ^= int(byte)
        h = (h * 0x01000193) & 0xFFFFFFFF
    return h
