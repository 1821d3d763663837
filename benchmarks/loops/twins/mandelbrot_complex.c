#include <math.h>
#include <stdint.h>

void
twin(int64_t width, int64_t height, int64_t limit, int64_t *counts)
{
    for (int64_t row = 0; row < height; row++)
        for (int64_t column = 0; column < width; column++) {
            double cr = -2.0 + 3.0 * column / width, ci = -1.5 + 3.0 * row / height, zr = 0, zi = 0;
            int64_t n = 0;
            while (n < limit && hypot(zr, zi) <= 2.0) {
                double re = zr * zr - zi * zi + cr, im = zr * zi + zi * zr + ci;
                zr = re;
                zi = im;
                n++;
            }
            counts[row * width + column] = n;
        }
}
