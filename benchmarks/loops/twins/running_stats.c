#include <math.h>
#include <stdint.h>

void
twin(const double *values, int64_t count, int64_t *n_out, double *mean_out, double *deviation, double *least_out,
     double *greatest_out)
{
    int64_t n = 0;
    double mean = 0, m2 = 0, least = 0, greatest = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = values[i], delta = x - mean;
        n++;
        mean += delta / n;
        m2 += delta * (x - mean);
        if (i == 0 || x < least)
            least = x;
        if (i == 0 || x > greatest)
            greatest = x;
    }
    *n_out = n;
    *mean_out = mean;
    *deviation = sqrt(m2 / (n - 1));
    *least_out = least;
    *greatest_out = greatest;
}
