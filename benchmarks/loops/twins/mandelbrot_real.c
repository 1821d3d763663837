#include <stdint.h>

void
twin(int64_t width, int64_t height, int64_t limit, int64_t *inside, int64_t *total)
{
    int64_t in = 0, sum = 0;
    for (int64_t row = 0; row < height; row++) {
        double y0 = -1.5 + 3.0 * row / height;
        for (int64_t column = 0; column < width; column++) {
            double x0 = -2.0 + 3.0 * column / width, x = 0, y = 0;
            int64_t n = 0;
            while (x * x + y * y <= 4.0 && n < limit) {
                double t = x * x - y * y + x0;
                y = 2.0 * x * y + y0;
                x = t;
                n++;
            }
            in += n == limit;
            sum += n;
        }
    }
    *inside = in;
    *total = sum;
}
