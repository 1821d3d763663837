#include <stdint.h>

int64_t
twin(const uint8_t *data, int64_t n)
{
    int64_t h = 0x811C9DC5;
    for (int64_t i = 0; i < n; i++)
        h = ((h ^ data[i]) * 0x01000193) & 0xFFFFFFFF;
    return h;
}
