#include <math.h>
#include <stdint.h>

double
twin(const double *returns, int64_t n, double omega, double alpha, double beta)
{
    double variance = omega / (1.0 - alpha - beta), total = 0;
    for (int64_t i = 0; i < n; i++) {
        double r = returns[i];
        total -= 0.5 * (log(2.0 * M_PI) + log(variance) + r * r / variance);
        variance = omega + alpha * r * r + beta * variance;
    }
    return total;
}
