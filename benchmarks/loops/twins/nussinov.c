#include <stdint.h>

static int64_t
most(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

int64_t
twin(const int64_t *sequence, int64_t n, int64_t *table, int64_t rows, int64_t columns)
{
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = i + 1; j < n; j++) {
            int64_t best = most(table[i * n + j - 1], table[(i + 1) * n + j]);
            if (i < j - 1)
                best = most(best, table[(i + 1) * n + j - 1] + (sequence[i] + sequence[j] == 3));
            for (int64_t k = i + 1; k < j; k++)
                best = most(best, table[i * n + k] + table[(k + 1) * n + j]);
            table[i * n + j] = best;
        }
    return table[n - 1];
}
