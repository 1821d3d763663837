#include <stdint.h>

void
twin(const int8_t *a, int64_t n, const int8_t *b, int64_t m, int64_t match, int64_t mismatch, int64_t gap,
     int32_t *score)
{
    int64_t w = m + 1;
    for (int64_t i = 0; i <= n; i++)
        score[i * w] = (int32_t)(i * gap);
    for (int64_t j = 0; j <= m; j++)
        score[j] = (int32_t)(j * gap);
    for (int64_t i = 1; i <= n; i++)
        for (int64_t j = 1; j <= m; j++) {
            int32_t best = score[(i - 1) * w + j - 1] + (int32_t)(a[i - 1] == b[j - 1] ? match : mismatch);
            int32_t up = score[(i - 1) * w + j] + (int32_t)gap, left = score[i * w + j - 1] + (int32_t)gap;
            best = up > best ? up : best;
            score[i * w + j] = left > best ? left : best;
        }
}
