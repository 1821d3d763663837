#include <math.h>
#include <stdint.h>

void
twin(const double *x, int64_t n, int64_t m, double *d)
{
    for (int64_t i = 0; i < n; i++) {
        d[i * n + i] = 0;
        for (int64_t j = i + 1; j < n; j++) {
            double total = 0;
            for (int64_t k = 0; k < m; k++) {
                double t = x[i * m + k] - x[j * m + k];
                total += t * t;
            }
            d[i * n + j] = d[j * n + i] = sqrt(total);
        }
    }
}
