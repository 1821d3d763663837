#include <stdint.h>

static int64_t
least(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

void
twin(const float *image, int64_t rows, int64_t columns, int64_t height, int64_t width, float *out)
{
    for (int64_t y = 0; y < height; y++) {
        double fy = (double)(y * (rows - 1)) / (double)(height - 1);
        int64_t y0 = (int64_t)fy, y1 = least(y0 + 1, rows - 1);
        double wy = fy - y0;
        for (int64_t x = 0; x < width; x++) {
            double fx = (double)(x * (columns - 1)) / (double)(width - 1);
            int64_t x0 = (int64_t)fx, x1 = least(x0 + 1, columns - 1);
            double wx = fx - x0;
            float top = image[y0 * columns + x0] * (float)(1.0 - wx) + image[y0 * columns + x1] * (float)wx;
            float bottom = image[y1 * columns + x0] * (float)(1.0 - wx) + image[y1 * columns + x1] * (float)wx;
            out[y * width + x] = top * (float)(1.0 - wy) + bottom * (float)wy;
        }
    }
}
