/* The words of printed flows, shared by flow_print.c and flow_parse.c (the form is shown in flow.h and docs/flow.md). */
#ifndef JY_GRAPH_FLOW_TEXT_H
#define JY_GRAPH_FLOW_TEXT_H

#include "graph/flow.h"

/* Fields of a box that count, in printing order. ORDER box_how */
enum {
    JY_BOX_HAS_NUMBER = 1, /* "7" */
    JY_BOX_HAS_OBJECT = 2, /* "o7" */
    JY_BOX_HAS_KIND = 4,   /* "pyint" */
    JY_BOX_HAS_DTYPE = 8,  /* "int64" */
    JY_BOX_HAS_NDIM = 16,  /* "2d" */
    JY_BOX_HAS_VALUE = 32, /* "$3": the exit's value 3, and those behind it */
    JY_BOX_HAS_PARTS = 64  /* "(...)" */
};

struct jy_box_text {
    const char *text;
    uint8_t fields;
    int8_t nvalues; /* -1: one, an extent and a stride per axis; -2: one, an extent per axis */
};

enum { JY_BOX_HOW_COUNT = JY_BOX_MAYBE + 1, JY_INPUT_KIND_COUNT = JY_FLOW_IN_ARG + 1 };
enum { JY_KIND_TEXT_COUNT = 5, JY_EXIT_KIND_COUNT = JY_EXIT_RETURN + 1 };

extern const struct jy_box_text jy_box_text[JY_BOX_HOW_COUNT];
extern const char *const jy_ftype_text[JY_F_TYPE_COUNT];
extern const char *const jy_flow_kind_text[JY_KIND_TEXT_COUNT]; /* ORDER kind */
extern const char *const jy_flow_exit_text[JY_EXIT_KIND_COUNT];
extern const char *const jy_flow_input_text[JY_INPUT_KIND_COUNT];

/* Has the instruction an index in brackets: a constant, or f_index? */
static inline bool
jy_flow_has_index(enum jy_fop op)
{
    return op == JY_FLOW_CONST || op == JY_FLOW_INPUT || op == JY_FLOW_LOAD || op == JY_FLOW_STORE ||
           op == JY_FLOW_CALL || op == JY_FLOW_INVOKE || op == JY_FLOW_SPREAD;
}

#endif
