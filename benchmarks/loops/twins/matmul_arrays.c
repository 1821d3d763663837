#include <stdint.h>

void
twin(double *a, int64_t n, int64_t p, double *b, int64_t pb, int64_t m, double *c, int64_t nc, int64_t mc)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double total = 0;
            for (int64_t k = 0; k < p; k++)
                total += a[i * p + k] * b[k * m + j];
            c[i * m + j] = total;
        }
}
