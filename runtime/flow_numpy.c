/* NumPy's functions of one or two float64 numbers: the inner loop that the ufunc itself would run, once. The status flags are looked at as NumPy looks at them; where one is up that may be
 * reported, the call fails, and the interpreter's own reports it. */
#include "runtime/flow_numpy.h"
#include "runtime/fpstatus.h"
#include "runtime/numpy_api.h"

#include <string.h>

/* Of the first signature that matches, as NumPy looks it up. */
static bool
run(PyObject *callable, const char *types, size_t n, char **args)
{
    const PyUFuncObject *u = (const PyUFuncObject *)callable;
    npy_intp count = 1, strides[3] = { 0 };
    int k = 0;
    if ((size_t)u->nargs != n || u->nout != 1)
        return false;
    while (k < u->ntypes && memcmp(u->types + (size_t)k * n, types, n) != 0)
        k++;
    if (k == u->ntypes)
        return false;
    jy_fp_clear(true);
    u->functions[k](args, &count, strides, u->data == NULL ? NULL : (void *)(uintptr_t)u->data[k]);
    return (jy_fp_read(true) & ~(uint32_t)JY_FP_UNDERFLOW) == 0;
}

double
jy_flow_np_f_f(PyObject *ufunc, double x, int32_t *failed)
{
    static const char types[] = { NPY_DOUBLE, NPY_DOUBLE };
    double result = 0;
    char *args[] = { (char *)&x, (char *)&result };
    *failed = !run(ufunc, types, 2, args);
    return result;
}

double
jy_flow_np_f_ff(PyObject *ufunc, double x, double y, int32_t *failed)
{
    static const char types[] = { NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE };
    double result = 0;
    char *args[] = { (char *)&x, (char *)&y, (char *)&result };
    *failed = !run(ufunc, types, 3, args);
    return result;
}

bool
jy_flow_np_b_f(PyObject *ufunc, double x, int32_t *failed)
{
    static const char types[] = { NPY_DOUBLE, NPY_BOOL };
    npy_bool result = 0;
    char *args[] = { (char *)&x, (char *)&result };
    *failed = !run(ufunc, types, 2, args);
    return result != 0;
}
