#include <stdint.h>

void
twin(int64_t *d, int64_t n, int64_t m)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            int64_t through = d[i * n + k];
            for (int64_t j = 0; j < n; j++)
                if (through + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = through + d[k * n + j];
        }
}
