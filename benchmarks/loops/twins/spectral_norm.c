#include <math.h>
#include <stdint.h>

#include <stdlib.h>

static double
element(int64_t i, int64_t j)
{
    return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1);
}

static void
times(const double *v, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < n; j++)
            total += element(i, j) * v[j];
        out[i] = total;
    }
}

static void
times_transposed(const double *v, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < n; j++)
            total += element(j, i) * v[j];
        out[i] = total;
    }
}

double
twin(int64_t n)
{
    double *u = malloc(n * 8), *v = malloc(n * 8), *w = malloc(n * 8), uv = 0, vv = 0;
    for (int64_t i = 0; i < n; i++)
        u[i] = 1.0;
    for (int k = 0; k < 10; k++) {
        times(u, w, n);
        times_transposed(w, v, n);
        times(v, w, n);
        times_transposed(w, u, n);
    }
    for (int64_t i = 0; i < n; i++) {
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    free(u);
    free(v);
    free(w);
    return sqrt(uv / vv);
}
