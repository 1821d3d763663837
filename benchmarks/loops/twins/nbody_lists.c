#include <math.h>
#include <stdint.h>

#define VECTORS double *x, double *y, double *z, double *vx, double *vy, double *vz, double *mass

static double
energy(VECTORS, int64_t n)
{
    double e = 0;
    for (int64_t i = 0; i < n; i++) {
        e += 0.5 * mass[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
        for (int64_t j = i + 1; j < n; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            e -= mass[i] * mass[j] / sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    return e;
}

static void
advance(VECTORS, int64_t n, double dt)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            double d2 = dx * dx + dy * dy + dz * dz;
            double mag = dt / (d2 * sqrt(d2));
            vx[i] -= dx * mass[j] * mag;
            vy[i] -= dy * mass[j] * mag;
            vz[i] -= dz * mass[j] * mag;
            vx[j] += dx * mass[i] * mag;
            vy[j] += dy * mass[i] * mag;
            vz[j] += dz * mass[i] * mag;
        }
    for (int64_t i = 0; i < n; i++) {
        x[i] += dt * vx[i];
        y[i] += dt * vy[i];
        z[i] += dt * vz[i];
    }
}

void
twin(double *x, int64_t n, double *y, int64_t ny, double *z, int64_t nz, double *vx, int64_t nvx, double *vy,
     int64_t nvy, double *vz, int64_t nvz, double *mass, int64_t nmass, int64_t steps, double dt, double *before,
     double *after)
{
    *before = energy(x, y, z, vx, vy, vz, mass, n);
    for (int64_t step = 0; step < steps; step++)
        advance(x, y, z, vx, vy, vz, mass, n, dt);
    *after = energy(x, y, z, vx, vy, vz, mass, n);
}
