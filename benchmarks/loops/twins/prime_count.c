#include <stdint.h>

static int
is_prime(int64_t n)
{
    if (n < 2)
        return 0;
    if (n % 2 == 0)
        return n == 2;
    for (int64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return 0;
    return 1;
}

int64_t
twin(int64_t limit)
{
    int64_t count = 0;
    for (int64_t n = 0; n < limit; n++)
        if (is_prime(n))
            count++;
    return count;
}
