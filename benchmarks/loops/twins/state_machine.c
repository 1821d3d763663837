#include <stdint.h>

void
twin(const int32_t *symbols, int64_t n, const int32_t *table, int64_t rows, int64_t columns, int64_t *numbers,
     int64_t *words, int64_t *errors)
{
    int32_t state = 0;
    int64_t ended[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        int32_t next = table[state * columns + symbols[i]];
        if (next == 0)
            ended[state]++;
        state = next;
    }
    *numbers = ended[1];
    *words = ended[2];
    *errors = ended[3];
}
