#include <stdint.h>

#include <stdlib.h>

static int64_t
least(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

int64_t
twin(const uint8_t *a, int64_t n, const uint8_t *b, int64_t m)
{
    int64_t *previous = malloc((m + 1) * 8), *current = malloc((m + 1) * 8);
    for (int64_t j = 0; j <= m; j++)
        previous[j] = j;
    for (int64_t i = 1; i <= n; i++) {
        current[0] = i;
        for (int64_t j = 1; j <= m; j++) {
            int64_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            current[j] = least(least(previous[j] + 1, current[j - 1] + 1), previous[j - 1] + cost);
        }
        int64_t *t = previous;
        previous = current;
        current = t;
    }
    int64_t result = previous[m];
    free(previous);
    free(current);
    return result;
}
