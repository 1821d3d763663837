#include <math.h>
#include <stdint.h>

void
twin(double *a, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double total = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                total -= a[i * n + k] * a[j * n + k];
            if (i == j)
                a[i * n + i] = sqrt(total);
            else
                a[i * n + j] = total / a[j * n + j];
        }
}
