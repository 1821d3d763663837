/* Element types: a table (dtype.def) and NumPy's promotion among them. */
#ifndef JY_GRAPH_DTYPE_H
#define JY_GRAPH_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum jy_dtype {
#define DTYPE(name, text, bytes, kind, number) JY_##name,
#define ELEMENT(name, text, bytes, kind, number)
#include "graph/dtype.def"
#undef DTYPE
#undef ELEMENT
    JY_DTYPE_COUNT, /* of graphs; those of native loops alone stand from here on */
    JY_BEFORE_ELEMENTS = JY_DTYPE_COUNT - 1,
#define DTYPE(name, text, bytes, kind, number)
#define ELEMENT(name, text, bytes, kind, number) JY_##name,
#include "graph/dtype.def"
#undef DTYPE
#undef ELEMENT
    JY_ELEMENT_COUNT,
    JY_DTYPE_NONE = 255,
} jy_dtype;

struct jy_dtype_info {
    const char *text;
    uint8_t bytes;
    char kind;
    int number;
};

extern const struct jy_dtype_info jy_dtype_info[JY_ELEMENT_COUNT];

/* A value of any dtype in eight bytes; bool is 0 or 1 in `i`, narrow integers are extended in `i`, with their sign where they have one, float32 is in `f`. */
union jy_scalar {
    int64_t i;
    double d;
    float f;
    uint64_t bits;
};

/* Of graphs. */
bool jy_dtype_from_number(jy_dtype *out, int number);
bool jy_dtype_from_text(jy_dtype *out, const char *text);
/* Of native loops, too. */
bool jy_element_from_number(jy_dtype *out, int number);
bool jy_element_from_text(jy_dtype *out, const char *text);
/* np.promote_types */
jy_dtype jy_dtype_promote(jy_dtype a, jy_dtype b);

static inline bool
jy_dtype_is_float(jy_dtype t)
{
    return t == JY_F32 || t == JY_F64;
}

static inline bool
jy_dtype_is_unsigned(jy_dtype t)
{
    return t == JY_U8 || t == JY_U16 || t == JY_U32 || t == JY_U64;
}

#endif
