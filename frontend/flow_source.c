/* Which of the program's loops an instruction of a flow is of (graph/flow_report.h). An instruction that is in no loop of its own code is of that which its caller's CALL is of; so each loop of an inlined
 * function is told of once for each loop that the function is called in. */
#include "frontend/flow.h"

const char *
jy_vsource_file(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    struct jy_vcode *code = jy_vb_code(b, frame->f->f_instrs);
    if (code->file == NULL)
        code->file = jy_frame_file(frame->f);
    return code->file;
}

static size_t
number_of(const struct jy_vbuild *b, const struct jy_vcode *code)
{
    return (size_t)(code - b->codes.at);
}

/* The report of that key; number + 1, 0: there is none. */
static uint32_t
find_report(const struct jy_vbuild *b, uint64_t key, uint32_t around)
{
    const struct jy_flow *root = jy_flow_root(b->w);
    for (uint32_t k = 0; k < root->w_reports.n; k++)
        if (root->w_reports.at[k].key == key && root->w_reports.at[k].around == around)
            return k + 1;
    return 0;
}

static uint32_t
add_report(struct jy_vbuild *b, const struct jy_flow_report *report)
{
    struct jy_flow *root = jy_flow_root(b->w);
    *jy_vec_push(b->arena, &root->w_reports) = *report;
    return (uint32_t)root->w_reports.n;
}

static struct jy_flow_report
describe(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    const PyCodeObject *code = (PyCodeObject *)frame->f->f_code;
    return (struct jy_flow_report){ .file = jy_vsource_file(b, frame),
                                    .function = jy_arena_strdup(b->arena, jy_utf8(code->co_name)),
                                    .first_line = (uint32_t)code->co_firstlineno };
}

static uint64_t
key_of(const struct jy_vbuild *b, const struct jy_vcode *code, uint32_t place)
{
    uint64_t function = b->self != NULL ? b->self->report : 0;
    return function << 48 | (uint64_t)number_of(b, code) << 32 | place;
}

static uint32_t
loop_report(struct jy_vbuild *b, const struct jy_vframe *frame, const struct jy_code_loops *loops, int k,
            uint32_t outside)
{
    if (k < 0)
        return outside;
    const struct jy_code_loop *loop = &loops->list.at[k];
    uint32_t around = loop_report(b, frame, loops, loop->around, outside);
    uint64_t key = key_of(b, jy_vb_code(b, frame->f->f_instrs), (uint32_t)loop->first);
    uint32_t known = find_report(b, key, around);
    if (known != 0)
        return known;
    struct jy_flow_report like = describe(b, frame);
    like.key = key;
    like.around = around;
    like.kind = loop->kind;
    like.line = loop->line;
    like.last_line = loop->last_line;
    like.offset = (uint32_t)jy_code_at(frame->f->f_instrs, loop->first)->i_offset;
    return add_report(b, &like);
}

static const struct jy_code_loops *
loops_of(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    struct jy_vcode *code = jy_vb_code(b, frame->f->f_instrs);
    if (code->loops == NULL)
        code->loops = jy_code_loops_find(b->arena, frame->f->f_instrs);
    return code->loops;
}

uint32_t
jy_vsource_loop(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    if (frame == NULL)
        return b->self != NULL ? b->self->report : 0;
    const struct jy_code_loops *loops = loops_of(b, frame);
    int k = frame->pc != JY_NO_INSTR ? loops->innermost[frame->pc] : JY_IN_NO_LOOP;
    return k == JY_IN_HANDLER ? 0 : loop_report(b, frame, loops, k, jy_vsource_loop(b, frame->back));
}

void
jy_vsource_stamp(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    uint64_t place = 0;
    b->w->w_here.loop = jy_vsource_loop(b, frame);
    b->w->w_here.ordinal = 0;
    for (; frame != NULL; frame = frame->back) {
        const struct jy_vcode *code = jy_vb_code(b, frame->f->f_instrs);
        place = (place ^ (number_of(b, code) << 20 | (uint64_t)frame->pc)) * UINT64_C(0x9E3779B97F4A7C15);
    }
    b->w->w_here.place = place;
}

static uint32_t
last_line(const struct jy_code *code)
{
    int last = 0;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))
        if (jy_code_at(code, id)->i_position.line > last)
            last = jy_code_at(code, id)->i_position.line;
    return (uint32_t)last;
}

uint32_t
jy_vsource_function(struct jy_vbuild *b, const struct jy_vframe *caller, const struct jy_vframe *callee)
{
    struct jy_flow_report like = describe(b, callee);
    like.kind = JY_REPORT_FUNCTION;
    like.line = like.first_line;
    like.last_line = last_line(callee->f->f_instrs);
    for (uint32_t k = 0; k < jy_flow_root(b->w)->w_reports.n; k++) { /* one for all kinds of arguments */
        const struct jy_flow_report *other = &jy_flow_root(b->w)->w_reports.at[k];
        if (other->kind == JY_REPORT_FUNCTION && other->line == like.line &&
            strcmp(other->function, like.function) == 0 && strcmp(other->file, like.file) == 0)
            return k + 1;
    }
    like.around = caller != callee ? jy_vsource_loop(b, caller) : 0;
    like.key = (uint64_t)1 << 63 | jy_flow_root(b->w)->w_reports.n;
    return add_report(b, &like);
}
