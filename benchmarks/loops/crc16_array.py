"""CRC-16 bit by bit over an array of uint8."""

import numpy as np

QUICK, FULL = 500, 40_000


def setup(size):
    return np.random.default_rng(10).integers(0, 256, size, dtype=np.uint8), 0x8408


def crc16_array(data, poly):
    crc = 0xFFFF
    for i in range(data.size):
        b = int(data[i])
        for _ in range(8):
            if (b & 0x0001) ^ (crc & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            b >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF
