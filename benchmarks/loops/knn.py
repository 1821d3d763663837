"""The classes of points by their k nearest neighbours."""

import numpy as np

QUICK, FULL = 30, 250


def setup(size):
    rng = np.random.default_rng(21)
    return rng.random((size, 3)), rng.integers(0, 3, size), rng.random((size, 3)), 5


def knn(points, labels, queries, k):
    answer = np.zeros(len(queries), dtype=np.int64)
    for q in range(len(queries)):
        near = [np.inf] * k
        which = [0] * k
        for p in range(len(points)):
            d = 0.0
            for c in range(points.shape[1]):
                t = points[p, c] - queries[q, c]
                d += t * t
            if d < near[k - 1]:
                at = k - 1
                while at > 0 and near[at - 1] > d:
                    near[at] = near[at - 1]
                    which[at] = which[at - 1]
                    at -= 1
                near[at] = d
                which[at] = p
        votes = [0, 0, 0]
        for i in range(k):
            votes[labels[which[i]]] += 1
        best = 0
        for c in range(1, 3):
            if votes[c] > votes[best]:
                best = c
        answer[q] = best
    return answer
