#include <stdint.h>

void
twin(int64_t bound, int64_t *best_out, int64_t *longest_out)
{
    int64_t best = 0, longest = 0;
    for (int64_t start = 1; start < bound; start++) {
        int64_t n = start, length = 1;
        while (n != 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            length++;
        }
        if (length > longest) {
            longest = length;
            best = start;
        }
    }
    *best_out = best;
    *longest_out = longest;
}
