#include <stdint.h>

int64_t
twin(int64_t full, int64_t columns, int64_t left, int64_t right)
{
    if (columns == full)
        return 1;
    int64_t count = 0, free = full & ~(columns | left | right);
    while (free) {
        int64_t bit = free & -free;
        free ^= bit;
        count += twin(full, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}
