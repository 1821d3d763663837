#include <stdint.h>

#include <stdlib.h>

void
twin(const int64_t *a, int64_t n, const int64_t *b, int64_t m, int64_t *common)
{
    int64_t w = m + 1, *t = calloc((n + 1) * w, 8);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            if (a[i] == b[j])
                t[(i + 1) * w + j + 1] = t[i * w + j] + 1;
            else if (t[i * w + j + 1] >= t[(i + 1) * w + j])
                t[(i + 1) * w + j + 1] = t[i * w + j + 1];
            else
                t[(i + 1) * w + j + 1] = t[(i + 1) * w + j];
    int64_t i = n, j = m, at = t[n * w + m];
    while (i > 0 && j > 0)
        if (a[i - 1] == b[j - 1]) {
            common[--at] = a[i - 1];
            i--;
            j--;
        } else if (t[(i - 1) * w + j] >= t[i * w + j - 1])
            i--;
        else
            j--;
    free(t);
}
