#include <stdint.h>

int64_t
twin(int64_t n)
{
    return n < 2 ? n : twin(n - 1) + twin(n - 2);
}
