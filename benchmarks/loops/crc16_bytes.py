"""CRC-16 bit by bit over bytes."""

import random

QUICK, FULL = 500, 40_000


def setup(size):
    return random.Random(9).randbytes(size), 0x8408


def crc16_bytes(data, poly):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
    return crc ^ 0xFFFF
