#include <stdint.h>

#include <stdlib.h>

void
twin(int64_t n, int64_t *checksum_out, int64_t *most_out)
{
    int64_t *perm1 = malloc(n * 8), *perm = calloc(n, 8), *count = calloc(n, 8), most = 0, checksum = 0, r = n;
    int even = 1;
    for (int64_t i = 0; i < n; i++)
        perm1[i] = i;
    for (;;) {
        for (; r != 1; r--)
            count[r - 1] = r;
        for (int64_t i = 0; i < n; i++)
            perm[i] = perm1[i];
        int64_t flips = 0;
        for (int64_t k = perm[0]; k != 0; k = perm[0]) {
            for (int64_t i = 0, j = k; i < j; i++, j--) {
                int64_t t = perm[i];
                perm[i] = perm[j];
                perm[j] = t;
            }
            flips++;
        }
        if (flips > most)
            most = flips;
        checksum += even ? flips : -flips;
        for (;; r++) {
            if (r == n) {
                *checksum_out = checksum;
                *most_out = most;
                free(perm1);
                free(perm);
                free(count);
                return;
            }
            int64_t first = perm1[0];
            for (int64_t i = 0; i < r; i++)
                perm1[i] = perm1[i + 1];
            perm1[r] = first;
            if (--count[r] > 0)
                break;
        }
        even = !even;
    }
}
