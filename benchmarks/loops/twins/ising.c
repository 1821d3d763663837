#include <math.h>
#include <stdint.h>

struct bitgen { /* numpy/random/bitgen.h */
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
};

int64_t
twin(int64_t *spins, int64_t n, int64_t m, double beta, int64_t sweeps, struct bitgen *rng)
{
    int64_t accepted = 0;
    for (int64_t sweep = 0; sweep < sweeps; sweep++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++) {
                int64_t near = spins[(i + 1) % n * m + j] + spins[(i + n - 1) % n * m + j] +
                               spins[i * m + (j + 1) % m] + spins[i * m + (j + m - 1) % m];
                int64_t change = 2 * spins[i * m + j] * near;
                if (change <= 0 || rng->next_double(rng->state) < exp(-beta * change)) {
                    spins[i * m + j] = -spins[i * m + j];
                    accepted++;
                }
            }
    return accepted;
}
