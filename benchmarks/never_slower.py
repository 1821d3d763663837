"""Small functions that gain little or nothing: what jitney.compile leaves of their speed, after warm-up. None may be slower.

Each row is a whole function as programs have it, called often on small data. `WARM` calls come first, so that what is tried by the clock is decided.
"""

import bisect
import math
import os
import sys
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np

import jitney
from common import Row
from jitney.bench import alternate, batches, summarise
from jitney.testing import differs

WARM = 400
TARGET = 0.95
BATCH = 2e-4  # seconds: short, so that what else the machine does falls on both alike

nowhere = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process lives)


def sieve(n, m):
    s = np.ones(n, bool)
    for i in range(2, m):
        if s[i]:
            s[i * i :: i] = False
    return s


def distances(p):
    n = len(p)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            d[i, j] = d[j, i] = np.linalg.norm(p[i] - p[j])
    return d


def report(values):
    total = 0.0
    for i, x in enumerate(values):
        total += x * 1.5
        print(i, x, total, file=nowhere)
    return total


def table(rows):
    lines = []
    for name, price, count in rows:
        lines.append(f"{name:<8} {price:8.2f} {count:4d} {price * count:10.2f}")
    return "\n".join(lines)


def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return max(counts.items(), key=lambda item: item[1])


def read_csv(text):
    sums = [0.0, 0.0, 0.0]
    for line in text.splitlines():
        fields = line.split(",")
        for k in range(3):
            sums[k] += float(fields[k])
    return sums


def tokens(text):
    found, word = [], ""
    for c in text:
        if c.isalnum():
            word += c
        else:
            if word:
                found.append(word)
            word = ""
            if c in "+-*/()":
                found.append(c)
    return found


def damped(x, n):
    for _ in range(n):
        x = x * 0.5 + 0.1
        os.getpid()
    return x


def unit_vectors(vectors):
    made = []
    for v in vectors:
        made.append(v / np.linalg.norm(v))
    return made


def normals(points):
    made = []
    for k in range(len(points) - 2):
        a, b, c = points[k], points[k + 1], points[k + 2]
        made.append(np.cross(b - a, c - a))
    return made


def solve_each(matrices, right):
    x = right
    for m in matrices:
        x = np.linalg.solve(m, x)
        x = x / (1.0 + np.abs(x).max())
    return x


def turn(points, angle):
    c, s = math.cos(angle), math.sin(angle)
    m = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return [m @ p for p in points]


def reflect(position, velocity, steps):
    for _ in range(steps):
        position = position + 0.1 * velocity
        for k in range(3):
            if position[k] < 0.0 or position[k] > 1.0:
                velocity[k] = -velocity[k]
                position[k] = min(max(position[k], 0.0), 1.0)
    return position


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.v -= self.x * dt
        self.x += self.v * dt

    def energy(self):
        return 0.5 * (self.v * self.v + self.x * self.x)


def simulate(n):
    bodies = [Body(0.1 * k, 1.0) for k in range(n)]
    for _ in range(5):
        for body in bodies:
            body.step(0.01)
    return sum(body.energy() for body in bodies)


class TooLittle(Exception):
    pass


class Account:
    def __init__(self, money):
        self.money = money

    def take(self, amount):
        if amount > self.money:
            raise TooLittle(amount)
        self.money -= amount


def pay(amounts):
    account, refused = Account(100), 0
    for amount in amounts:
        try:
            account.take(amount)
        except TooLittle:
            refused += 1
            account.money += 50
    return account.money, refused


def numbers_or_none(texts):
    made = []
    for text in texts:
        try:
            made.append(int(text))
        except ValueError:
            made.append(None)
    return made


def decay(s, n):
    record = []
    for d in range(n):
        s = s / 1.01
        record.append((d, s))
    return record


def epidemic(n):
    s, i, r = 0.99, 0.01, 0.0
    out = []
    for d in range(n):
        x, y = 0.3 * s * i, 0.1 * i
        s -= x
        i += x - y
        r += y
        out.append({"day": d, "s": s, "i": i, "r": r})
    return out


def ways(n, memo):
    if n < 2:
        return 1
    if n not in memo:
        memo[n] = ways(n - 1, memo) + ways(n - 2, memo)
    return memo[n]


def count_ways(n):
    return ways(n, {})


def nested_sum(tree):
    if isinstance(tree, tuple):
        return sum(nested_sum(part) for part in tree)
    return tree


def first_long(words, n):
    for k, word in enumerate(words):
        if len(word) > n:
            return k
    return -1


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def lerp(a, b, t):
    return a + (b - a) * t


def digits(n):
    return sum(int(c) for c in str(n))


def make_counter():
    count = 0

    def step(amount):
        nonlocal count
        count += amount
        return count % 7

    return step


def count_up(n):
    counter, total = make_counter(), 0
    for k in range(n):
        total += counter(k)
    return total


def breadth_first(graph, start):
    distance, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in graph[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                waiting.append(other)
    return distance


def insert_sorted(values):
    kept = []
    for value in values:
        bisect.insort(kept, value)
    return kept


def product3(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


@dataclass
class Statistics:
    n: int = 0
    mean: float = 0.0
    m2: float = 0.0


def welford(values):
    s = Statistics()
    for x in values:
        s.n += 1
        delta = x - s.mean
        s.mean += delta / s.n
        s.m2 += delta * (x - s.mean)
    return s.n, s.mean, s.m2


Point = namedtuple("Point", "x y")


def outline(points):
    low, high = points[0], points[0]
    for p in points:
        low = Point(min(low.x, p.x), min(low.y, p.y))
        high = Point(max(high.x, p.x), max(high.y, p.y))
    return low, high


def interpolate(values, xs, ys):
    return [float(np.interp(v, xs, ys)) for v in values]


def mean_of_rows(rows):
    made = {}
    for name, row in rows:
        made[name] = row.mean()
        if row.max() > 2.0:
            made[name + "!"] = row.max()
    return made


def clean(a, limit):
    for k in range(len(a)):
        row = a[k]
        if row.sum() > limit:
            row[row > limit] = limit
    return a


def cases():
    """(function, arguments)"""
    r = np.random.default_rng(1)
    words = [w for w in ("the quick brown fox jumps over the lazy dog and then it sleeps under an old tree by the river " * 3).split()]
    rows3 = r.random((20, 3))
    vectors = list(r.random((20, 3)))
    matrices = [m + 2 * np.eye(3) for m in r.random((10, 3, 3))]
    graph = {k: [(k * 2) % 30, (k * 3 + 1) % 30, (k + 1) % 30] for k in range(30)}
    square = [[0.5, 1.5, 2.0], [1.0, 0.25, 3.0], [2.0, 1.0, 0.125]]
    floats = r.random(40).tolist()
    yield sieve, (3000, 50)
    yield distances, (rows3,)
    yield report, (floats[:20],)
    yield table, ([(w, 1.25 * k, k) for k, w in enumerate(words[:15])],)
    yield count_words, (words,)
    yield read_csv, ("\n".join(f"{a},{b},{c}" for a, b, c in rows3),)
    yield tokens, ("alpha + beta*(gamma - 17)/delta + (epsilon*23 - zeta) ",)
    yield damped, (np.ones(3), 20)
    yield unit_vectors, (vectors,)
    yield normals, (vectors[:8],)
    yield solve_each, (matrices, np.ones(3))
    yield turn, (vectors[:10], 0.3)
    yield reflect, (np.full(3, 0.5), np.array([1.0, -0.7, 0.3]), 20)
    yield simulate, (10,)
    yield pay, ([5, 10, 80, 30, 200, 1, 1, 60, 70, 2],)
    yield numbers_or_none, (["1", "x", "22", "-", "7", "8", "nine"],)
    yield decay, (1.0, 100)
    yield epidemic, (50,)
    yield count_ways, (20,)
    yield nested_sum, (((1, (2, 3)), (4, (5, (6, 7))), 8),)
    yield first_long, (words, 5)
    yield gcd, (1071, 462)
    yield clamp, (1.5, 0.0, 1.0)
    yield lerp, (1.0, 2.0, 0.25)
    yield digits, (987654321,)
    yield count_up, (30,)
    yield breadth_first, (graph, 0)
    yield insert_sorted, (floats,)
    yield product3, (square, square)
    yield welford, (floats,)
    yield outline, ([Point(a, b) for a, b, _ in rows3],)
    yield interpolate, (floats[:10], np.arange(5.0), np.arange(5.0) ** 2)
    yield mean_of_rows, ([(f"row{k}", v) for k, v in enumerate(vectors[:10])],)
    yield clean, (rows3.copy(), 1.5)


def rows(seconds):
    for function, args in cases():
        compiled = jitney.compile(function)
        found = differs(function, compiled, *args)
        for _ in range(WARM):
            compiled(*args)
        eager, fast = alternate(batches(function, args), batches(compiled, args), seconds=seconds, batch=BATCH, pairs=5000)
        row = summarise(function.__name__, eager, fast, None, found or differs(function, compiled, *args))
        # 3.11 has a callable of our own before each function, which costs every call some ten nanoseconds: measured, not promised of the shortest
        target = TARGET if sys.version_info >= (3, 12) or row.eager.median > 1e-6 else None
        yield Row(function.__name__, row.ratio, "x", target, row.difference, row.as_dict())
