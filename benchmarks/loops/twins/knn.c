#include <math.h>
#include <stdint.h>

void
twin(const double *points, int64_t n, int64_t dims, const int64_t *labels, int64_t nlabels, const double *queries,
     int64_t nqueries, int64_t qdims, int64_t k, int64_t *answer)
{
    for (int64_t q = 0; q < nqueries; q++) {
        double near[k];
        int64_t which[k], votes[3] = {0, 0, 0}, best = 0;
        for (int64_t i = 0; i < k; i++) {
            near[i] = INFINITY;
            which[i] = 0;
        }
        for (int64_t p = 0; p < n; p++) {
            double d = 0;
            for (int64_t c = 0; c < dims; c++) {
                double t = points[p * dims + c] - queries[q * dims + c];
                d += t * t;
            }
            if (d < near[k - 1]) {
                int64_t at = k - 1;
                for (; at > 0 && near[at - 1] > d; at--) {
                    near[at] = near[at - 1];
                    which[at] = which[at - 1];
                }
                near[at] = d;
                which[at] = p;
            }
        }
        for (int64_t i = 0; i < k; i++)
            votes[labels[which[i]]]++;
        for (int64_t c = 1; c < 3; c++)
            if (votes[c] > votes[best])
                best = c;
        answer[q] = best;
    }
}
