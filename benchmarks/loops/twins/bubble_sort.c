#include <stdint.h>

void
twin(int64_t *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int swapped = 0;
        for (int64_t j = 0; j < n - 1 - i; j++)
            if (values[j] > values[j + 1]) {
                int64_t t = values[j];
                values[j] = values[j + 1];
                values[j + 1] = t;
                swapped = 1;
            }
        if (!swapped)
            break;
    }
}
