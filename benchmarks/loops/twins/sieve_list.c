#include <stdint.h>

#include <stdlib.h>

void
twin(int64_t n, int64_t *primes)
{
    uint8_t *composite = calloc(n + 1, 1);
    int64_t count = 0;
    for (int64_t i = 2; i <= n; i++)
        if (!composite[i]) {
            primes[count++] = i;
            for (int64_t j = i * i; j <= n; j += i)
                composite[j] = 1;
        }
    free(composite);
}
