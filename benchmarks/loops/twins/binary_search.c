#include <stdint.h>

void
twin(const int64_t *values, int64_t n, const int64_t *wanted, int64_t m, int64_t *total_out, int64_t *found_out)
{
    int64_t total = 0, found = 0;
    for (int64_t i = 0; i < m; i++) {
        int64_t x = wanted[i], low = 0, high = n;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (values[middle] < x)
                low = middle + 1;
            else
                high = middle;
        }
        total += low;
        if (low < n && values[low] == x)
            found++;
    }
    *total_out = total;
    *found_out = found;
}
