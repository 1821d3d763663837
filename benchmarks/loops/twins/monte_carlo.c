#include <stdint.h>

/* The Mersenne Twister as Python's random seeds and reads it. */
#define N 624
#define M 397

static uint32_t state[N];
static int at;

static void
seed(uint32_t key)
{
    state[0] = 19650218;
    for (uint32_t k = 1; k < N; k++)
        state[k] = 1812433253u * (state[k - 1] ^ (state[k - 1] >> 30)) + k;
    uint32_t i = 1;
    for (int k = 0; k < N; k++) {
        state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + key;
        if (++i == N) {
            state[0] = state[N - 1];
            i = 1;
        }
    }
    for (int k = 0; k < N - 1; k++) {
        state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i == N) {
            state[0] = state[N - 1];
            i = 1;
        }
    }
    state[0] = 0x80000000u;
    at = N;
}

static uint32_t
next(void)
{
    if (at == N) {
        for (int k = 0; k < N; k++) {
            uint32_t y = (state[k] & 0x80000000u) | (state[(k + 1) % N] & 0x7fffffffu);
            state[k] = state[(k + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        at = 0;
    }
    uint32_t y = state[at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static double
draw(void)
{
    uint32_t a = next() >> 5, b = next() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

double
twin(int64_t n, int64_t key)
{
    seed((uint32_t)key);
    int64_t inside = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = draw(), y = draw();
        if (x * x + y * y <= 1.0)
            inside++;
    }
    return 4.0 * inside / n;
}
