/* Entries that are flows: what a run leads to.
 *
 * Leaving a flow and coming back costs a few microseconds. A flow whose runs keep ending soon at a check or a stop costs more than it gives: it is given up, and no loop is compiled at its start
 * again, so that nothing is slower for ever than CPython. */
#include "runtime/function.h"
#include <stdlib.h>

static void
count(struct jy_function *f, struct jy_flow_exec *flow, uint32_t exit)
{
    struct jy_stats *s = &f->f_stats;
    s->flow_calls++;
    switch ((enum jy_flow_exit_kind)jy_flow_exec_exit_kind(flow, exit)) {
    case JY_EXIT_CHECK:
        s->flow_checks++;
        break;
    case JY_EXIT_STOP:
        s->flow_stops++;
        break;
    case JY_EXIT_POLL:
    case JY_EXIT_CALL: /* a function was not begun */
        s->flow_polls++;
        jy_flow_exec_note_poll(flow);
        break;
    case JY_EXIT_RETURN:
        s->flow_returns++;
        s->native_calls++;
        break;
    }
}

static void
give_up(struct jy_function *f, struct jy_start *s, struct jy_entry *entry, uint32_t exit)
{
    entry->e_off = true;
    s->s_no_flow = true;
    if (s != &f->f_call) {
        jy_leaves_drop(f, s->s_offset);
    } else if (f->f_recurses) { /* each level of it is a call */
        f->f_off = true;
        jy_leaves_drop_all(f);
        jy_function_uninstall(f);
    }
    if (!jy_runtime->logs.on[JY_LOG_perf_hints])
        return;
    char *place = jy_flow_exec_describe_exit(entry->e_flow, exit);
    struct jy_text text = { 0 };
    jy_text_add(&text, "a native loop is given up: most of its runs end soon, the last at %s",
                place != NULL ? place : "an exit");
    jy_runtime->logs.frame = f->f_id;
    if (text.at != NULL)
        jy_log_print(&jy_runtime->logs, JY_LOG_perf_hints, text.at);
    jy_text_free(&text);
    free(place);
}

enum jy_flow_run
jy_entry_run_flow(PyObject **out, struct jy_function *f, struct jy_start *s, struct jy_entry *entry,
                  struct jy_guard_values *values)
{
    uint32_t exit;
    uint64_t *unlocked = &f->f_stats.flow_unlocked;
    entry->e_refs++;
    enum jy_flow_run run = jy_flow_exec_run(out, &exit, unlocked, entry->e_flow, f->f_object, values, f->f_id);
    if (exit != JY_NO_EXIT)
        count(f, entry->e_flow, exit);
    else
        f->f_stats.flow_refusals++;
    if (run == JY_FLOW_APART)
        s->s_no_alias = true;
    if (run == JY_FLOW_OBJECTS)
        s->s_no_natives = true;
    if (run == JY_FLOW_LEFT && !entry->e_off && jy_flow_exec_is_futile(entry->e_flow))
        give_up(f, s, entry, exit);
    jy_entry_release(entry);
    return run;
}
