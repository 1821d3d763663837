#include <stdint.h>

void
twin(const double *values, int64_t n, double low, double high, int64_t bins, int64_t *counts, int64_t *outside)
{
    double scale = bins / (high - low);
    int64_t out = 0;
    for (int64_t k = 0; k < bins; k++)
        counts[k] = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = values[i];
        if (low <= x && x < high)
            counts[(int64_t)((x - low) * scale)]++;
        else
            out++;
    }
    *outside = out;
}
