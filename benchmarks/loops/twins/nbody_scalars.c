#include <math.h>
#include <stdint.h>

void
twin(int64_t steps, double dt, double *rx, double *ry, double *rz, double *energy)
{
    double m1 = 1.0, m2 = 0.5, m3 = 0.25;
    double x1 = 0.0, y1 = 0.0, z1 = 0.0, u1 = 0.0, v1 = -0.1, w1 = 0.0;
    double x2 = 1.0, y2 = 0.0, z2 = 0.1, u2 = 0.0, v2 = 0.9, w2 = 0.1;
    double x3 = -1.5, y3 = 0.3, z3 = 0.0, u3 = 0.2, v3 = -0.7, w3 = 0.0;
    for (int64_t step = 0; step < steps; step++) {
        double dx = x1 - x2, dy = y1 - y2, dz = z1 - z2;
        double d2 = dx * dx + dy * dy + dz * dz;
        double mag = dt / (d2 * sqrt(d2));
        u1 -= dx * m2 * mag;
        v1 -= dy * m2 * mag;
        w1 -= dz * m2 * mag;
        u2 += dx * m1 * mag;
        v2 += dy * m1 * mag;
        w2 += dz * m1 * mag;
        dx = x1 - x3, dy = y1 - y3, dz = z1 - z3;
        d2 = dx * dx + dy * dy + dz * dz;
        mag = dt / (d2 * sqrt(d2));
        u1 -= dx * m3 * mag;
        v1 -= dy * m3 * mag;
        w1 -= dz * m3 * mag;
        u3 += dx * m1 * mag;
        v3 += dy * m1 * mag;
        w3 += dz * m1 * mag;
        dx = x2 - x3, dy = y2 - y3, dz = z2 - z3;
        d2 = dx * dx + dy * dy + dz * dz;
        mag = dt / (d2 * sqrt(d2));
        u2 -= dx * m3 * mag;
        v2 -= dy * m3 * mag;
        w2 -= dz * m3 * mag;
        u3 += dx * m2 * mag;
        v3 += dy * m2 * mag;
        w3 += dz * m2 * mag;
        x1 += dt * u1;
        y1 += dt * v1;
        z1 += dt * w1;
        x2 += dt * u2;
        y2 += dt * v2;
        z2 += dt * w2;
        x3 += dt * u3;
        y3 += dt * v3;
        z3 += dt * w3;
    }
    *rx = x1;
    *ry = y1;
    *rz = z1;
    *energy = 0.5 * (m1 * (u1 * u1 + v1 * v1 + w1 * w1) + m2 * (u2 * u2 + v2 * v2 + w2 * w2) +
                     m3 * (u3 * u3 + v3 * v3 + w3 * w3));
}
