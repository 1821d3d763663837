#include <stdint.h>

int64_t
twin(const uint8_t *data, int64_t n, int64_t poly)
{
    int64_t crc = 0xFFFF;
    for (int64_t i = 0; i < n; i++) {
        int64_t b = data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (b & 1) ^ (crc & 1) ? (crc >> 1) ^ poly : crc >> 1;
            b >>= 1;
        }
    }
    crc = ~crc & 0xFFFF;
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF;
}
