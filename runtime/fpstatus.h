/* FP status and what errstate makes of it.
 *
 * NumPy clears the status before every ufunc and looks at it once afterwards; so does a unit, for all its operations
 * together. The status lives in two registers on x86: MXCSR for everything that SSE and AVX compute, the x87 word for
 * flags that C code sets by hand (glibc's feraiseexcept of overflow and underflow, which NumPy's integer division and
 * float32 exp use). The latter is looked at only where NumPy's loops run. */
#ifndef JY_RUNTIME_FPSTATUS_H
#define JY_RUNTIME_FPSTATUS_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* NumPy's bits (NPY_FPE_*), in the order of its reports. */
enum jy_fp { JY_FP_DIVIDE = 1, JY_FP_OVERFLOW = 2, JY_FP_UNDERFLOW = 4, JY_FP_INVALID = 8 };

#if defined(__x86_64__)
#include <xmmintrin.h>

#define JY_FP_STICKY 0x1du /* IE, ZE, OE, UE of both registers; precision and denormal flags interest nobody */

static inline uint32_t
jy_fp_from_sticky(uint32_t sticky)
{
    return (sticky >> 2 & 7u) | (sticky & 1u) << 3;
}

static inline uint32_t
jy_fp_x87_sticky(void)
{
    uint16_t word;
    __asm__ volatile("fnstsw %0" : "=a"(word));
    return word & JY_FP_STICKY;
}

static inline void
jy_fp_clear(bool x87)
{
    uint32_t csr = _mm_getcsr();
    if (csr & JY_FP_STICKY)
        _mm_setcsr(csr & ~0x3fu);
    if (x87 && jy_fp_x87_sticky())
        __asm__ volatile("fnclex");
}

static inline uint32_t
jy_fp_read(bool x87)
{
    uint32_t sticky = _mm_getcsr() & JY_FP_STICKY;
    if (x87)
        sticky |= jy_fp_x87_sticky();
    return jy_fp_from_sticky(sticky);
}
#else
#include <fenv.h>

static inline void
jy_fp_clear(bool x87)
{
    (void)x87;
    feclearexcept(FE_ALL_EXCEPT);
}

static inline uint32_t
jy_fp_read(bool x87)
{
    (void)x87;
    int raised = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    return (raised & FE_DIVBYZERO ? JY_FP_DIVIDE : 0u) | (raised & FE_OVERFLOW ? JY_FP_OVERFLOW : 0u) |
           (raised & FE_UNDERFLOW ? JY_FP_UNDERFLOW : 0u) | (raised & FE_INVALID ? JY_FP_INVALID : 0u);
}
#endif

/* Sets the given flags, as an operation would have. */
void jy_fp_raise(uint32_t flags);

/* What errstate does with each kind: NumPy's codes. */
enum jy_errmode { JY_ERR_IGNORE, JY_ERR_WARN, JY_ERR_RAISE, JY_ERR_CALL, JY_ERR_PRINT, JY_ERR_LOG };

struct jy_errstate {
    uint32_t reported; /* kinds that are not ignored */
    uint32_t beyond;   /* kinds that do more than warn */
    int64_t bufsize;
};

int jy_errstate_init(void); /* -1 with an exception */
/* The calling thread's. When NumPy hides it, every kind is reported and goes beyond. Leaves no exception. */
struct jy_errstate jy_errstate_get(void);

/* Between enter and leave NumPy raises FloatingPointError for exactly the kinds that are reported now, or always, and
 * not never, and does not warn. False: impossible (no exception set). */
bool jy_errstate_enter_raise(PyObject **token, uint32_t always, uint32_t never);
void jy_errstate_leave(PyObject *token); /* an exception that is set stays set */

/* No entry of warnings.filters, and not the default action, would turn a RuntimeWarning into an error. */
bool jy_warnings_do_not_raise(void);
/* "overflow encountered in add" at the given place; false with an exception. `globals` gives module and registry. */
bool jy_fp_warn(uint32_t flags, const char *operation, const char *file, uint32_t line, PyObject *globals);

#endif
