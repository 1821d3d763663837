#include <math.h>
#include <stdint.h>

void
twin(int64_t starts, const double *coefficients, int64_t n, double tolerance, double *total_out, int64_t *steps_out)
{
    double total = 0;
    int64_t steps = 0;
    for (int64_t s = 0; s < starts; s++) {
        double x = -5.0 + 15.0 * s / starts;
        for (int round = 0; round < 60; round++) {
            double value = 0, slope = 0;
            for (int64_t k = n - 1; k >= 0; k--) {
                slope = slope * x + value;
                value = value * x + coefficients[k];
            }
            steps++;
            if (slope == 0.0)
                break;
            double next = x - value / slope;
            if (fabs(next - x) < tolerance) {
                x = next;
                break;
            }
            x = next;
        }
        total += x;
    }
    *total_out = total;
    *steps_out = steps;
}
