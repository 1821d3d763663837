#include <stdint.h>

#include <stdlib.h>
#include <string.h>

void
twin(uint8_t *cells, int64_t rows, int64_t columns, int64_t generations)
{
    uint8_t *spare = calloc(rows, columns), *old = cells, *next = spare;
    for (int64_t g = 0; g < generations; g++) {
        for (int64_t i = 0; i < rows; i++) {
            int64_t up = (i + rows - 1) % rows * columns, here = i * columns, down = (i + 1) % rows * columns;
            for (int64_t j = 0; j < columns; j++) {
                int64_t left = (j + columns - 1) % columns, right = (j + 1) % columns;
                uint8_t near = old[up + left] + old[up + j] + old[up + right] + old[here + left] + old[here + right];
                near += old[down + left] + old[down + j] + old[down + right];
                next[here + j] = near == 3 || (near == 2 && old[here + j] == 1);
            }
        }
        uint8_t *t = old;
        old = next;
        next = t;
    }
    if (old != cells)
        memcpy(cells, old, rows * columns);
    free(spare);
}
