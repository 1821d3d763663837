"""Pancake flips over all permutations: list elements as indices."""

QUICK, FULL = 6, 8


def setup(size):
    return (size,)


def fannkuch(n):
    perm1 = list(range(n))
    perm = [0] * n
    count = [0] * n
    most = checksum = 0
    even = True
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        for i in range(n):
            perm[i] = perm1[i]
        flips = 0
        k = perm[0]
        while k != 0:
            i = 0
            j = k
            while i < j:
                perm[i], perm[j] = perm[j], perm[i]
                i += 1
                j -= 1
            flips += 1
            k = perm[0]
        if flips > most:
            most = flips
        checksum += flips if even else -flips
        while True:
            if r == n:
                return checksum, most
            first = perm1[0]
            for i in range(r):
                perm1[i] = perm1[i + 1]
            perm1[r] = first
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        even = not even
