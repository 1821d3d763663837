/* What runtime/ and the frontend need of a CPython version, behind functions that exist on all of them.
 * Together with the opcode tables this is the only place that knows version numbers; each function is as small as the
 * difference that it hides.  All of them need the GIL. */
#ifndef JY_FRONTEND_CPYTHON_COMPAT_H
#define JY_FRONTEND_CPYTHON_COMPAT_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- functions ---- */

/* Whether a function's own vectorcall is honoured from every call site: 3.12 and later; 3.11's bytecode ignores it. */
bool jy_compat_has_function_vectorcall(void);
vectorcallfunc jy_compat_get_vectorcall(PyObject *function);
/* Makes the function unspecialisable (version 0) where the interpreter would pass `entry` by. */
void jy_compat_set_vectorcall(PyObject *function, vectorcallfunc entry);
/* Puts back what jy_compat_get_vectorcall and jy_compat_function_version gave before, so that calls specialise again.
 * Safe also where code or defaults were set meanwhile. */
void jy_compat_restore_vectorcall(PyObject *function, vectorcallfunc plain, uint32_t version);
uint32_t jy_compat_function_version(PyObject *function);
/* 3.13: a function made by FunctionType has version 0 and never specialises.  Gives `copy`, which has `origin`'s code and
 * defaults, the version that a def statement would have given it.  Elsewhere nothing is needed. */
void jy_compat_adopt_version(PyObject *copy, PyObject *origin);

/* ---- is anybody watching? ---- */

/* The interpreter-wide monitoring tables, read by jy_compat_is_watched; get it once per interpreter. */
struct jy_compat_watch {
    const uint8_t *w_tools; /* 3.12+: one byte of tool bits per event; NULL on 3.11 */
    uint64_t w_mask;        /* clears our own tool's bit in eight of them */
};

/* own_tool: the sys.monitoring tool id that is ours, -1 for none. */
void jy_compat_fill_watch(struct jy_compat_watch *out, int own_tool);

/* Tracing, profiling or monitoring is active for the calling thread, the interpreter or this code object: then no frame may
 * be left out.  Conservative: events nobody would see may count.  (From 3.12 on sys.settrace and sys.setprofile are tools
 * of the interpreter's as well, whichever thread asked, so the thread itself need not be looked at.) */
static inline bool jy_compat_is_watched(const struct jy_compat_watch *watch, PyObject *code);

/* A sys.monitoring tool watches this code object by itself: it must not be inlined. */
static inline bool jy_compat_is_code_watched(PyObject *code);

/* Before and after compiling, so that a tracer does not see what the compiler calls; nests. */
static inline void
jy_compat_enter_tracing(PyThreadState *thread)
{
    PyThreadState_EnterTracing(thread);
}

static inline void
jy_compat_leave_tracing(PyThreadState *thread)
{
    PyThreadState_LeaveTracing(thread);
}

/* Where a long native loop polls: leave when (*address & 0xff) != 0; then a signal, a GIL request or the like waits. */
const volatile uint32_t *jy_compat_eval_breaker(PyThreadState *thread);
/* Has the interpreter threads other than this one? */
bool jy_compat_has_other_threads(PyThreadState *thread);
/* It has begun to end: threads that ask for the GIL do not get it any more. */
bool jy_compat_is_finalizing(void);
/* Does an object that is made begin a collection (3.11), or does the interpreter when it polls? */
bool jy_compat_collects_at_once(void);
/* Would n lists that are made now begin one? False where none does at once. */
bool jy_compat_list_collects(int n);
/* Python frames that may still be begun before RecursionError. */
int64_t jy_compat_frames_left(PyThreadState *thread);
/* Units of C stack that a frame begun from C takes of those that RecursionError is made of (3.12 and later), if the interpreter's own instruction makes this vectorcall: it would have
 * begun the frame without C.  0 where a C function stands between. */
int jy_compat_c_units(PyThreadState *thread, PyObject *callable, PyObject *const *args);
/* So many units more (less, with a negative number) are left to the thread. */
void jy_compat_give_c_units(PyThreadState *thread, int units);

/* ---- dictionaries ---- */

/* The item of that name. Leaves no exception, and prints none.  refs: borrowed; NULL: there is none, or no memory to look */
PyObject *jy_compat_dict_get(PyObject *dict, const char *name);
/* Changes with every write to the dictionary (and may change without one). */
uint64_t jy_compat_dict_version(PyObject *dict);

/* Where a key's value sits.  Exact without any version: the keys table, the entry's key and its place are compared. */
struct jy_dict_slot {
    const void *s_keys;
    PyObject *s_key; /* borrowed: whoever holds the slot keeps the key alive */
    Py_ssize_t s_index;
};

/* False: the dictionary has no entry with this very key object. */
bool jy_compat_find_slot(struct jy_dict_slot *out, PyObject *dict, PyObject *key);
/* The value, borrowed; NULL: the entry is not there any more, look the key up. */
PyObject *jy_compat_probe_slot(const struct jy_dict_slot *slot, PyObject *dict);

/* ---- context variables ---- */

/* The immutable mapping behind the thread's context: whatever is set makes another one. Borrowed; NULL: nothing was ever set
 * in this thread. It can be referenced weakly. */
PyObject *jy_compat_context_vars(PyThreadState *thread);

/* ---- watchers (3.12 and later) ---- */

/* ORDER PyDict_WatchEvent, PyFunction_WatchEvent */
enum jy_dict_event {
    JY_DICT_ADDED,
    JY_DICT_MODIFIED,
    JY_DICT_DELETED,
    JY_DICT_CLONED,
    JY_DICT_CLEARED,
    JY_DICT_DEALLOCATED
};
enum jy_function_event {
    JY_FUNCTION_CREATE,
    JY_FUNCTION_DESTROY,
    JY_FUNCTION_CODE,
    JY_FUNCTION_DEFAULTS,
    JY_FUNCTION_KWDEFAULTS
};

/* Called before the change; must not run Python code; 0. */
typedef int (*jy_dict_callback)(unsigned event, PyObject *dict, PyObject *key, PyObject *value);
typedef int (*jy_type_callback)(PyTypeObject *type);
typedef int (*jy_function_callback)(unsigned event, PyFunctionObject *function, PyObject *value);

bool jy_compat_has_watchers(void);
/* A watcher's id; -1 with an exception: none is free, or the version has none. */
int jy_compat_add_dict_watcher(jy_dict_callback callback);
int jy_compat_add_type_watcher(jy_type_callback callback);
int jy_compat_add_function_watcher(jy_function_callback callback);
void jy_compat_clear_dict_watcher(int id);
void jy_compat_clear_type_watcher(int id);
void jy_compat_clear_function_watcher(int id);
/* 0, or -1 with an exception. */
int jy_compat_watch_dict(int id, PyObject *dict);
int jy_compat_watch_type(int id, PyObject *type);
void jy_compat_unwatch_dict(int id, PyObject *dict);
void jy_compat_unwatch_type(int id, PyObject *type);

/* What is made between the two is jitney's own: the program's watchers of functions and of code objects do not hear of it. Nothing of the program's may run meanwhile.
 * unmute takes what mute gave. */
unsigned jy_compat_mute_watchers(void);
void jy_compat_unmute_watchers(unsigned muted);

/* The type's version tag, given out if it had none; 0: tags have run out, the type cannot be guarded by it.
 * A type watcher stays silent until the type has a tag again: call this after every event. */
unsigned jy_compat_take_type_version(PyTypeObject *type);
/* 0 when the type has changed since; never gives one out. */
unsigned jy_compat_type_version(PyTypeObject *type);

/* ---- code objects ---- */

/* Kinds of a slot of localsplus.  A parameter that is a cell has both bits. */
#define JY_LOCAL_HIDDEN 0x10 /* a comprehension's variable in a scope that is no function */
#define JY_LOCAL_FAST 0x20
#define JY_LOCAL_CELL 0x40
#define JY_LOCAL_FREE 0x80

PyObject *jy_compat_local_name(PyCodeObject *code, int localsplus_index); /* refs: borrowed */
unsigned jy_compat_local_kind(PyCodeObject *code, int localsplus_index);
PyObject *
jy_compat_get_bytecode(PyCodeObject *code); /* refs: new; without caches' contents, specialisation, instrumentation */

/* A copy of `origin` with other contents.  refs: borrows all, returns new. */
struct jy_code_parts {
    PyCodeObject *p_origin;
    PyObject *p_bytecode, *p_consts, *p_names, *p_linetable, *p_exceptiontable; /* bytes, tuple, tuple, bytes, bytes */
    PyObject *p_new_locals; /* list of names behind the original locals, or NULL */
    int p_stacksize;
    bool p_one_parameter; /* positional; else the original's */
};
PyObject *jy_compat_new_code(const struct jy_code_parts *parts);

/* ---- what must be inline ---- */

#if PY_VERSION_HEX < 0x030c0000
static inline bool
jy_compat_is_watched(const struct jy_compat_watch *watch, PyObject *code)
{
    (void)watch, (void)code;
    return PyThreadState_Get()->cframe->use_tracing != 0;
}

static inline bool
jy_compat_is_code_watched(PyObject *code)
{
    (void)code;
    return false;
}
#else
static inline bool
jy_compat_has_tools(const uint8_t *tools, size_t n, uint64_t mask)
{
    uint64_t head, tail; /* they overlap: n is 8 to 16 */
    memcpy(&head, tools, sizeof head);
    memcpy(&tail, tools + n - sizeof tail, sizeof tail);
    return ((head | tail) & mask) != 0;
}

static inline bool
jy_compat_is_watched(const struct jy_compat_watch *watch, PyObject *code)
{
    if (jy_compat_has_tools(watch->w_tools, sizeof(_Py_GlobalMonitors), watch->w_mask))
        return true;
    const _PyCoMonitoringData *own = ((PyCodeObject *)code)->_co_monitoring;
    return own != NULL && jy_compat_has_tools(own->local_monitors.tools, sizeof(_Py_LocalMonitors), watch->w_mask);
}

static inline bool
jy_compat_is_code_watched(PyObject *code)
{
    const _PyCoMonitoringData *own = ((PyCodeObject *)code)->_co_monitoring;
    return own != NULL && jy_compat_has_tools(own->local_monitors.tools, sizeof(_Py_LocalMonitors), UINT64_MAX);
}
_Static_assert(sizeof(_Py_GlobalMonitors) >= 8 && sizeof(_Py_GlobalMonitors) <= 16, "read as two words");
_Static_assert(sizeof(_Py_LocalMonitors) >= 8 && sizeof(_Py_LocalMonitors) <= 16, "read as two words");
#endif

#endif
