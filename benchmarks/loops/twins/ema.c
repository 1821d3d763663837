#include <math.h>
#include <stdint.h>

void
twin(const double *prices, int64_t n, double alpha, double *out, int64_t *crossings)
{
    double value = prices[0];
    int above = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        value = alpha * prices[i] + (1.0 - alpha) * value;
        out[i] = value;
        int now = prices[i] > value;
        if (now && !above)
            count++;
        above = now;
    }
    *crossings = count;
}
