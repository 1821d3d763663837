#include <stdint.h>

int64_t
twin(int64_t n)
{
    int64_t coprime = 0;
    for (int64_t a = 1; a < n; a++)
        for (int64_t b = 1; b < n; b++) {
            int64_t x = a, y = b;
            while (y) {
                int64_t t = x % y;
                x = y;
                y = t;
            }
            if (x == 1)
                coprime++;
        }
    return coprime;
}
