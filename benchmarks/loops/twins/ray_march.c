#include <math.h>
#include <stdint.h>

static double
distance(double x, double y, double z, const double *spheres, int64_t n)
{
    double least = 1e9;
    for (int64_t i = 0; i < n; i++) {
        const double *s = spheres + 4 * i;
        double dx = x - s[0], dy = y - s[1], dz = z - s[2];
        double d = sqrt(dx * dx + dy * dy + dz * dz) - s[3];
        if (d < least)
            least = d;
    }
    return least;
}

void
twin(int64_t width, int64_t height, const double *spheres, int64_t n, int64_t four, double *image)
{
    for (int64_t row = 0; row < height; row++)
        for (int64_t column = 0; column < width; column++) {
            double dx = (column + 0.5) / width * 2.0 - 1.0, dy = (row + 0.5) / height * 2.0 - 1.0;
            double norm = sqrt(dx * dx + dy * dy + 1.0), dz = 1.0 / norm, t = 0, value = 0;
            dx /= norm;
            dy /= norm;
            for (int step = 0; step < 60; step++) {
                double d = distance(t * dx, t * dy, t * dz, spheres, n);
                if (d < 1e-4) {
                    value = 1.0 / (1.0 + t);
                    break;
                }
                t += d;
                if (t > 10.0)
                    break;
            }
            image[row * width + column] = value;
        }
}
