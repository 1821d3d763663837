#include <math.h>
#include <stdint.h>

static int64_t
power(int64_t base, int64_t exponent, int64_t modulus)
{
    int64_t result = 1;
    base %= modulus;
    while (exponent > 0) {
        if (exponent & 1)
            result = result * base % modulus;
        base = base * base % modulus;
        exponent >>= 1;
    }
    return result;
}

int64_t
twin(int64_t count, int64_t exponent, int64_t modulus)
{
    int64_t total = 0;
    for (int64_t k = 0; k < count; k++)
        total = (total + power(k + 2, exponent + k, modulus)) % modulus;
    return total;
}
