#include <math.h>
#include <stdint.h>

void
twin(double cr, double ci, int64_t limit, double *image, int64_t height, int64_t width)
{
    for (int64_t row = 0; row < height; row++)
        for (int64_t column = 0; column < width; column++) {
            double zr = 3.0 * column / width - 1.5, zi = 2.0 * row / height - 1.0, value = 0.0;
            for (int64_t n = 0; n < limit; n++) {
                double size = zr * zr + zi * zi;
                if (size > 4.0) {
                    value = n + 1 - log(log(size) / 2.0) / log(2.0);
                    break;
                }
                double re = zr * zr - zi * zi + cr, im = zr * zi + zi * zr + ci;
                zr = re;
                zi = im;
            }
            image[row * width + column] = value;
        }
}
