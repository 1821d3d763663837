/* The differences between CPython 3.11, 3.12 and 3.13, see compat.h.
 * Relies on struct layouts of each version's own headers only; nothing here calls a function that is not exported. */
#define Py_BUILD_CORE 1 /* for the layouts in internal/ */
#include "frontend/cpython/compat.h"

#include "internal/pycore_code.h"
#include "internal/pycore_context.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include <opcode.h>

#define HAS_312 (PY_VERSION_HEX >= 0x030c0000)
#define HAS_313 (PY_VERSION_HEX >= 0x030d0000)

/* ---- functions ---- */

bool
jy_compat_has_function_vectorcall(void)
{
    return HAS_312;
}

vectorcallfunc
jy_compat_get_vectorcall(PyObject *function)
{
    return ((PyFunctionObject *)function)->vectorcall;
}

void
jy_compat_set_vectorcall(PyObject *function, vectorcallfunc entry)
{
#if HAS_312
    PyFunction_SetVectorcall((PyFunctionObject *)function, entry);
#else
    ((PyFunctionObject *)function)->func_version = 0;
    ((PyFunctionObject *)function)->vectorcall = entry;
#endif
}

void
jy_compat_restore_vectorcall(PyObject *function, vectorcallfunc plain, uint32_t version)
{
    jy_compat_set_vectorcall(function, plain);
#if HAS_313
    /* Nothing would give it a version again.  Its version is its code's until a setter clears it; one that is not the
     * present code's belongs to code that has been replaced, and specialised calls would trust it. */
    PyFunctionObject *f = (PyFunctionObject *)function;
    if (version == ((PyCodeObject *)f->func_code)->co_version)
        f->func_version = version;
#else
    (void)version; /* a new one is given out when a call site asks */
#endif
}

uint32_t
jy_compat_function_version(PyObject *function)
{
    return ((PyFunctionObject *)function)->func_version;
}

void
jy_compat_adopt_version(PyObject *copy, PyObject *origin)
{
#if HAS_313
    PyFunctionObject *to = (PyFunctionObject *)copy, *from = (PyFunctionObject *)origin;
    if (to->func_code == from->func_code && to->func_defaults == from->func_defaults &&
        to->func_kwdefaults == from->func_kwdefaults)
        to->func_version = ((PyCodeObject *)from->func_code)->co_version;
#else
    (void)copy, (void)origin; /* versions are given out when a call site first asks */
#endif
}

/* ---- is anybody watching? ---- */

void
jy_compat_fill_watch(struct jy_compat_watch *out, int own_tool)
{
    uint8_t mask = (uint8_t)(own_tool < 0 ? 0xffu : ~(1u << own_tool));
    out->w_mask = UINT64_C(0x0101010101010101) * mask;
#if HAS_312
    out->w_tools = PyInterpreterState_Get()->monitors.tools;
#else
    out->w_tools = NULL;
#endif
}

const volatile uint32_t *
jy_compat_eval_breaker(PyThreadState *thread)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low byte comes first");
#if HAS_313
    return (const volatile uint32_t *)&thread->eval_breaker;
#else
    return (const volatile uint32_t *)&thread->interp->ceval.eval_breaker;
#endif
}

bool
jy_compat_has_other_threads(PyThreadState *thread)
{
    return thread->next != NULL || thread->prev != NULL;
}

bool
jy_compat_is_finalizing(void)
{
#if HAS_313
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

bool
jy_compat_collects_at_once(void)
{
    return !HAS_312;
}

bool
jy_compat_list_collects(int n)
{
#if HAS_312
    (void)n;
    return false;
#else
    const PyInterpreterState *interp = PyInterpreterState_Get();
    const struct _gc_runtime_state *gc = &interp->gc;
    int counted = n - interp->list.numfree; /* not those from the free list */
    return gc->enabled && !gc->collecting && gc->generations[0].threshold != 0 && counted > 0 &&
           gc->generations[0].count + counted > gc->generations[0].threshold;
#endif
}

int64_t
jy_compat_frames_left(PyThreadState *thread)
{
#if HAS_312
    return thread->py_recursion_remaining;
#else
    return thread->recursion_remaining;
#endif
}

#if HAS_312
#define C_STACK_UNITS 2 /* PY_EVAL_C_STACK_UNITS, which stands in ceval.c */

static const _PyInterpreterFrame *
current_frame(const PyThreadState *thread)
{
#if HAS_313
    return thread->current_frame;
#else
    return thread->cframe->current_frame;
#endif
}

static PyCodeObject *
code_of_frame(const _PyInterpreterFrame *frame)
{
#if HAS_313
    return (PyCodeObject *)frame->f_executable;
#else
    return frame->f_code;
#endif
}

/* f(*args, **more): the function, and behind it the tuple whose items are passed on or, with the keywords' values, copied. What is above the stack's end is only compared. */
static bool
spreads(const _PyInterpreterFrame *frame, PyObject *const *stack, Py_ssize_t size, PyObject *callable,
        PyObject *const *args)
{
#if HAS_313
    _Py_CODEUNIT at = *frame->instr_ptr;
    const Py_ssize_t behind = 2; /* a NULL between */
#else
    _Py_CODEUNIT at = *frame->prev_instr;
    const Py_ssize_t behind = 1;
#endif
    if (at.op.code != CALL_FUNCTION_EX)
        return false;
    for (Py_ssize_t k = 0; k + behind < size; k++)
        if (stack[k] == callable &&
            ((at.op.arg & 1) != 0 ||
             (PyObject *const *)((const char *)stack[k + behind] + offsetof(PyTupleObject, ob_item)) == args))
            return true;
    return false;
}
#endif

int
jy_compat_c_units(PyThreadState *thread, PyObject *callable, PyObject *const *args)
{
#if HAS_312
    const _PyInterpreterFrame *frame = current_frame(thread);
    if (frame == NULL || frame->owner == FRAME_OWNED_BY_CSTACK)
        return 0;
    const PyCodeObject *code = code_of_frame(frame);
    PyObject *const *stack = frame->localsplus + code->co_nlocalsplus, *const *end = stack + code->co_stacksize;
    bool inlined = args > stack && args <= end
                       ? args[-1] == callable || (args >= stack + 2 && args[-1] == NULL && args[-2] == callable)
                       : spreads(frame, stack, code->co_stacksize, callable, args);
    return inlined ? C_STACK_UNITS : 0;
#else
    (void)thread, (void)callable, (void)args; /* each frame counts, whoever begins it */
    return 0;
#endif
}

void
jy_compat_give_c_units(PyThreadState *thread, int units)
{
#if HAS_312
    thread->c_recursion_remaining += units;
#else
    (void)thread, (void)units;
#endif
}

/* ---- dictionaries ---- */

PyObject *
jy_compat_dict_get(PyObject *dict, const char *name)
{
    bool is_new = PyErr_Occurred() == NULL;
    PyObject *key = PyUnicode_FromString(name), *item = key != NULL ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_XDECREF(key);
    if (is_new)
        PyErr_Clear();
    return item;
}

uint64_t
jy_compat_dict_version(PyObject *dict)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    uint64_t tag = ((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
#if HAS_312
    tag /= DICT_VERSION_INCREMENT; /* the low bits belong to the watchers */
#endif
    return tag;
}

/* The key of entry `index`, and through *value its value; NULL for a hole. */
static PyObject *
entry_at(PyObject **value, PyDictObject *dict, PyDictKeysObject *keys, Py_ssize_t index)
{
    if (!DK_IS_UNICODE(keys)) {
        PyDictKeyEntry *entry = &DK_ENTRIES(keys)[index];
        *value = entry->me_value;
        return entry->me_key;
    }
    PyDictUnicodeEntry *entry = &DK_UNICODE_ENTRIES(keys)[index];
    *value = dict->ma_values != NULL ? dict->ma_values->values[index] : entry->me_value;
    return entry->me_key;
}

/* The entry that a slot of the hash table stands for; negative: none, DKIX_EMPTY ends a probe. */
static Py_ssize_t
entry_of_slot(const PyDictKeysObject *keys, size_t slot)
{
    const char *indices = keys->dk_indices;
    switch (keys->dk_log2_index_bytes - keys->dk_log2_size) {
    case 0:
        return ((const int8_t *)indices)[slot];
    case 1:
        return ((const int16_t *)indices)[slot];
    case 2:
        return ((const int32_t *)indices)[slot];
    default:
        return (Py_ssize_t)((const int64_t *)indices)[slot];
    }
}

static bool
is_entry(struct jy_dict_slot *out, PyObject *dict, Py_ssize_t index, PyObject *key)
{
    PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    PyObject *value;
    if (entry_at(&value, (PyDictObject *)dict, keys, index) != key || value == NULL)
        return false;
    *out = (struct jy_dict_slot){ keys, key, index };
    return true;
}

/* By identity: the dictionary's own look-up might call __eq__; and only text has a hash that certainly runs no code of the program's. */
bool
jy_compat_find_slot(struct jy_dict_slot *out, PyObject *dict, PyObject *key)
{
    enum { SHIFT = 5 }; /* PERTURB_SHIFT of dictobject.c */
    PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    Py_hash_t hash = PyUnicode_CheckExact(key) ? PyObject_Hash(key) : -1;
    bool found = false;
    for (Py_ssize_t i = 0; hash == -1 && i < keys->dk_nentries && !found; i++)
        found = is_entry(out, dict, i, key);
    if (hash == -1)
        return found;
    size_t mask = ((size_t)1 << keys->dk_log2_size) - 1, perturb = (size_t)hash, slot = perturb & mask;
    for (Py_ssize_t i; (i = entry_of_slot(keys, slot)) != DKIX_EMPTY;) {
        if (i >= 0 && is_entry(out, dict, i, key))
            return true;
        perturb >>= SHIFT;
        slot = (slot * 5 + perturb + 1) & mask;
    }
    return false;
}

PyObject *
jy_compat_probe_slot(const struct jy_dict_slot *slot, PyObject *dict)
{
    PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    PyObject *value;
    if (keys != slot->s_keys || slot->s_index >= keys->dk_nentries) /* the table may be another at the same address */
        return NULL;
    return entry_at(&value, (PyDictObject *)dict, keys, slot->s_index) == slot->s_key ? value : NULL;
}

/* ---- watchers ---- */

bool
jy_compat_has_watchers(void)
{
    return HAS_312;
}

#if HAS_312
_Static_assert((int)PyDict_EVENT_ADDED == JY_DICT_ADDED && (int)PyDict_EVENT_MODIFIED == JY_DICT_MODIFIED &&
                   (int)PyDict_EVENT_DELETED == JY_DICT_DELETED && (int)PyDict_EVENT_CLONED == JY_DICT_CLONED &&
                   (int)PyDict_EVENT_CLEARED == JY_DICT_CLEARED && (int)PyDict_EVENT_DEALLOCATED == JY_DICT_DEALLOCATED,
               "ORDER PyDict_WatchEvent");
_Static_assert((int)PyFunction_EVENT_CREATE == JY_FUNCTION_CREATE &&
                   (int)PyFunction_EVENT_DESTROY == JY_FUNCTION_DESTROY &&
                   (int)PyFunction_EVENT_MODIFY_CODE == JY_FUNCTION_CODE &&
                   (int)PyFunction_EVENT_MODIFY_DEFAULTS == JY_FUNCTION_DEFAULTS &&
                   (int)PyFunction_EVENT_MODIFY_KWDEFAULTS == JY_FUNCTION_KWDEFAULTS,
               "ORDER PyFunction_WatchEvent");

int
jy_compat_add_dict_watcher(jy_dict_callback callback)
{
    return PyDict_AddWatcher((PyDict_WatchCallback)callback);
}

int
jy_compat_add_type_watcher(jy_type_callback callback)
{
    return PyType_AddWatcher(callback);
}

int
jy_compat_add_function_watcher(jy_function_callback callback)
{
    return PyFunction_AddWatcher((PyFunction_WatchCallback)callback);
}

/* Clearing and unwatching fail only for an id that is not ours: that is a bug of the caller, not an error to report. */
static void
must_work(int result)
{
    if (result < 0)
        Py_FatalError("jitney: a watcher id that was never given out");
}

void
jy_compat_clear_dict_watcher(int id)
{
    must_work(PyDict_ClearWatcher(id));
}

void
jy_compat_clear_type_watcher(int id)
{
    must_work(PyType_ClearWatcher(id));
}

void
jy_compat_clear_function_watcher(int id)
{
    must_work(PyFunction_ClearWatcher(id));
}

int
jy_compat_watch_dict(int id, PyObject *dict)
{
    return PyDict_Watch(id, dict);
}

int
jy_compat_watch_type(int id, PyObject *type)
{
    return PyType_Watch(id, type);
}

void
jy_compat_unwatch_dict(int id, PyObject *dict)
{
    must_work(PyDict_Unwatch(id, dict));
}

void
jy_compat_unwatch_type(int id, PyObject *type)
{
    must_work(PyType_Unwatch(id, type));
}

unsigned
jy_compat_take_type_version(PyTypeObject *type)
{
    return PyUnstable_Type_AssignVersionTag(type) ? jy_compat_type_version(type) : 0;
}
#else
static int
no_watchers(void)
{
    PyErr_SetString(PyExc_NotImplementedError, "this version of Python has no watchers");
    return -1;
}

int
jy_compat_add_dict_watcher(jy_dict_callback callback)
{
    (void)callback;
    return no_watchers();
}

int
jy_compat_add_type_watcher(jy_type_callback callback)
{
    (void)callback;
    return no_watchers();
}

int
jy_compat_add_function_watcher(jy_function_callback callback)
{
    (void)callback;
    return no_watchers();
}

void
jy_compat_clear_dict_watcher(int id)
{
    (void)id;
}

void
jy_compat_clear_type_watcher(int id)
{
    (void)id;
}

void
jy_compat_clear_function_watcher(int id)
{
    (void)id;
}

int
jy_compat_watch_dict(int id, PyObject *dict)
{
    (void)id, (void)dict;
    return no_watchers();
}

int
jy_compat_watch_type(int id, PyObject *type)
{
    (void)id, (void)type;
    return no_watchers();
}

void
jy_compat_unwatch_dict(int id, PyObject *dict)
{
    (void)id, (void)dict;
}

void
jy_compat_unwatch_type(int id, PyObject *type)
{
    (void)id, (void)type;
}

unsigned
jy_compat_take_type_version(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("__class__");
    if (name == NULL) {
        PyErr_Clear();
        return 0;
    }
    _PyType_Lookup(type, name); /* the only exported function that gives out a tag */
    Py_DECREF(name);
    return jy_compat_type_version(type);
}
#endif

unsigned
jy_compat_type_version(PyTypeObject *type)
{
#if HAS_313
    return type->tp_version_tag; /* 0 when it was withdrawn; the flag is not kept any more */
#else
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
#endif
}

unsigned
jy_compat_mute_watchers(void)
{
#if HAS_312
    PyInterpreterState *interp = PyInterpreterState_Get();
    unsigned muted = interp->active_func_watchers | (unsigned)interp->active_code_watchers << 8;
    interp->active_func_watchers = interp->active_code_watchers = 0;
    return muted;
#else
    return 0;
#endif
}

void
jy_compat_unmute_watchers(unsigned muted)
{
#if HAS_312
    PyInterpreterState *interp = PyInterpreterState_Get();
    interp->active_func_watchers = (uint8_t)muted;
    interp->active_code_watchers = (uint8_t)(muted >> 8);
#else
    (void)muted;
#endif
}

/* ---- code objects ---- */

PyObject *
jy_compat_local_name(PyCodeObject *code, int localsplus_index)
{
    return PyTuple_GET_ITEM(code->co_localsplusnames, localsplus_index);
}

unsigned
jy_compat_local_kind(PyCodeObject *code, int localsplus_index)
{
    return (unsigned char)PyBytes_AS_STRING(code->co_localspluskinds)[localsplus_index];
}

PyObject *
jy_compat_get_bytecode(PyCodeObject *code)
{
    return PyCode_GetCode(code);
}

/* refs: returns new; the original's locals and the new ones. */
static PyObject *
all_varnames(const struct jy_code_parts *parts)
{
    PyObject *old = PyCode_GetVarnames(parts->p_origin);
    if (old == NULL || parts->p_new_locals == NULL)
        return old;
    PyObject *list = PySequence_List(old), *all = NULL;
    Py_DECREF(old);
    if (list != NULL) {
        if (PyList_SetSlice(list, PyList_GET_SIZE(list), PyList_GET_SIZE(list), parts->p_new_locals) == 0)
            all = PyList_AsTuple(list);
        Py_DECREF(list);
    }
    return all;
}

/* The constructor derives the kinds from the names and forgets JY_LOCAL_HIDDEN, without which f_locals of a module with a
 * comprehension would delete globals.  refs: code borrowed. */
static int
copy_hidden_kinds(PyCodeObject *code, PyCodeObject *origin, int nnew)
{
    if (memchr(PyBytes_AS_STRING(origin->co_localspluskinds), JY_LOCAL_HIDDEN | JY_LOCAL_FAST,
               (size_t)PyBytes_GET_SIZE(origin->co_localspluskinds)) == NULL)
        return 0;
    if (nnew != 0) {
        PyErr_SetString(PyExc_ValueError, "no locals can be added to code that hides some");
        return -1;
    }
    Py_SETREF(code->co_localspluskinds, Py_NewRef(origin->co_localspluskinds));
    return 0;
}

PyObject *
jy_compat_new_code(const struct jy_code_parts *parts)
{
    PyCodeObject *old = parts->p_origin, *code = NULL;
    int nnew = parts->p_new_locals == NULL ? 0 : (int)PyList_GET_SIZE(parts->p_new_locals);
    bool one = parts->p_one_parameter;
    PyObject *varnames = all_varnames(parts);
    PyObject *cells = PyCode_GetCellvars(old), *frees = PyCode_GetFreevars(old);
    unsigned muted = jy_compat_mute_watchers();
    if (varnames != NULL && cells != NULL && frees != NULL) {
#if HAS_312
        code = PyUnstable_Code_NewWithPosOnlyArgs
#else
        code = PyCode_NewWithPosOnlyArgs
#endif
            (one ? 1 : old->co_argcount, one ? 0 : old->co_posonlyargcount, one ? 0 : old->co_kwonlyargcount,
             old->co_nlocals + nnew, parts->p_stacksize,
             one ? old->co_flags & ~(CO_VARARGS | CO_VARKEYWORDS) : old->co_flags, parts->p_bytecode, parts->p_consts,
             parts->p_names, varnames, frees, cells, old->co_filename, old->co_name, old->co_qualname,
             old->co_firstlineno, parts->p_linetable, parts->p_exceptiontable);
    }
    jy_compat_unmute_watchers(muted);
    Py_XDECREF(varnames);
    Py_XDECREF(cells);
    Py_XDECREF(frees);
    if (code != NULL && copy_hidden_kinds(code, old, nnew) < 0)
        Py_CLEAR(code);
    return (PyObject *)code;
}

PyObject *
jy_compat_context_vars(PyThreadState *thread)
{
    const struct _pycontextobject *context = (const struct _pycontextobject *)thread->context;
    return context == NULL ? NULL : (PyObject *)context->ctx_vars;
}
