/* Text of kernels, shared by plan_print.c, plan_parse.c and loop_print.c, loop_parse.c. */
#ifndef JY_GRAPH_LOOP_TEXT_H
#define JY_GRAPH_LOOP_TEXT_H

#include "graph/plan.h"

/* with_lines: of the program, as comments. */
void jy_loop_print(struct jy_text *text, const struct jy_plan *plan, const struct jy_kernel *kernel, bool with_lines);

/* A place in the text of a plan. Errors are kept: after the first one everything that follows fails too. */
struct jy_reader {
    struct jy_arena *arena;
    const char *at;
    uint32_t line;
    const char *error;
};

void jy_reader_fail(struct jy_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Skips blanks within the line. */
void jy_reader_blanks(struct jy_reader *r);
/* Takes `word` if it comes next: a whole word, unless it is a single character (of "b3", "%7"). */
bool jy_reader_take(struct jy_reader *r, const char *word);
void jy_reader_expect(struct jy_reader *r, const char *word);
int64_t jy_reader_int(struct jy_reader *r);
uint32_t jy_reader_index(struct jy_reader *r);
/* A name of letters, digits and underscores; "" on failure. */
const char *jy_reader_word(struct jy_reader *r);
jy_dtype jy_reader_dtype(struct jy_reader *r);
jy_dtype jy_reader_element(struct jy_reader *r); /* of native loops, too */
jy_op jy_reader_op(struct jy_reader *r);
/* To the next line with text; false at the end. The comment of a line (from ';') is passed over. */
bool jy_reader_next_line(struct jy_reader *r);
/* Blanks at the start of the current line. */
size_t jy_reader_indent(const struct jy_reader *r);
bool jy_reader_at_end_of_line(struct jy_reader *r);

/* Statements deeper than `indent`, which the first of them sets. */
struct jy_kernel jy_loop_parse(struct jy_reader *r, size_t indent);
const char *jy_loop_verify(const struct jy_plan *plan, size_t k);

#endif
