#include <stdint.h>

#include <stdlib.h>
#include <string.h>

int64_t
twin(int64_t n)
{
    uint8_t *prime = malloc(n + 1);
    memset(prime, 1, n + 1);
    prime[0] = prime[1] = 0;
    for (int64_t i = 2; i * i <= n; i++)
        if (prime[i])
            for (int64_t j = i * i; j <= n; j += i)
                prime[j] = 0;
    int64_t count = 0;
    for (int64_t k = 0; k <= n; k++)
        if (prime[k])
            count++;
    free(prime);
    return count;
}
