#include <stdint.h>

void
twin(double *values, int64_t n, int64_t low, int64_t high)
{
    while (low < high) {
        double pivot = values[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double t = values[i];
                values[i++] = values[j];
                values[j--] = t;
            }
        }
        twin(values, n, low, j);
        low = i;
    }
}
