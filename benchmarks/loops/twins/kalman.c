#include <stdint.h>

void
twin(const double *measured, int64_t n, double dt, double q, double r, double *out)
{
    double x = 0, v = 0, p00 = 1, p01 = 0, p11 = 1;
    for (int64_t i = 0; i < n; i++) {
        x += dt * v;
        p00 += dt * (2.0 * p01 + dt * p11) + q;
        p01 += dt * p11;
        p11 += q;
        double s = p00 + r, k0 = p00 / s, k1 = p01 / s, residual = measured[i] - x;
        x += k0 * residual;
        v += k1 * residual;
        p11 -= k1 * p01;
        p01 *= 1.0 - k0;
        p00 *= 1.0 - k0;
        out[i] = x;
    }
}
