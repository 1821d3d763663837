#include <math.h>
#include <stdint.h>

int64_t
twin(double *u, int64_t rows, int64_t columns, double tolerance, int64_t limit)
{
    for (int64_t sweep = 0; sweep < limit; sweep++) {
        double change = 0;
        for (int64_t i = 1; i < rows - 1; i++)
            for (int64_t j = 1; j < columns - 1; j++) {
                double *p = &u[i * columns + j];
                double next = 0.25 * (p[-columns] + p[columns] + p[-1] + p[1]);
                double by = fabs(next - *p);
                if (by > change)
                    change = by;
                *p = next;
            }
        if (change < tolerance)
            return sweep + 1;
    }
    return limit;
}
