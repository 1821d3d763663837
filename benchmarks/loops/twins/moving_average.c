#include <stdint.h>

void
twin(const double *values, int64_t n, int64_t window, double *out)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        total += values[i];
        if (i >= window)
            total -= values[i - window];
        if (i >= window - 1)
            out[i - window + 1] = total / window;
    }
}
