#include <stdint.h>

void
twin(double *u, int64_t n, int64_t m, double *next, int64_t rows, int64_t columns, double c, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < m - 1; j++) {
                const double *p = &u[i * m + j];
                next[i * m + j] = p[0] + c * (p[m] + p[-m] + p[1] + p[-1] - 4.0 * p[0]);
            }
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < m - 1; j++)
                u[i * m + j] = next[i * m + j];
    }
}
