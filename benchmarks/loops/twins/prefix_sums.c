#include <stdint.h>

void
twin(const double *values, int64_t n, double *sums, int64_t nsums, const int64_t *numbers, int64_t m, int64_t *running)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        total += values[i];
        sums[i] = total;
    }
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++) {
        count += numbers[i];
        running[i] = count;
    }
}
