/* Life of a compiled function's state, and the table from function objects to states (a dispatcher carries its state itself and is listed for reset()).
 *
 * The table is keyed by address. An address cannot be reused while its state exists: a weak reference's callback frees the state before the function's memory is. */
#include "runtime/function.h"
#include <stdlib.h>

struct jy_runtime *jy_runtime;

/* -- the table ------------------------------------------------------------------------------------------------------------------- */

static size_t
slot_of(PyObject *key)
{
    return jy_function_slot(key, jy_runtime->table_size - 1);
}

struct jy_function *
jy_function_find(PyObject *object)
{
    struct jy_function *of_dispatcher = jy_dispatcher_function(object);
    if (of_dispatcher != NULL || jy_runtime->table_size == 0)
        return of_dispatcher;
    return jy_function_listed(object);
}

static void
table_put(PyObject *key, struct jy_function *value)
{
    struct jy_runtime *rt = jy_runtime;
    size_t k = slot_of(key);
    while (rt->table[k].key != NULL)
        k = (k + 1) & (rt->table_size - 1);
    rt->table[k].key = key;
    rt->table[k].value = value;
    rt->table_used++;
}

static int
table_reserve(void)
{
    struct jy_runtime *rt = jy_runtime;
    if (2 * (rt->table_used + 1) <= rt->table_size)
        return 0;
    size_t old_size = rt->table_size, size = old_size == 0 ? 64 : 2 * old_size;
    __typeof__(rt->table) old = rt->table, bigger = calloc(size, sizeof(*bigger));
    if (bigger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    rt->table = bigger;
    rt->table_size = size;
    rt->table_used = 0;
    for (size_t k = 0; k < old_size; k++)
        if (old[k].key != NULL)
            table_put(old[k].key, old[k].value);
    free(old);
    return 0;
}

int
jy_function_list(struct jy_function *f)
{
    if (table_reserve() < 0)
        return -1;
    table_put(f->f_object, f);
    f->f_listed = true;
    return 0;
}

/* Entries behind the removed one move up where their probe sequence asks for it. */
static void
table_remove(PyObject *key)
{
    struct jy_runtime *rt = jy_runtime;
    size_t mask = rt->table_size - 1, hole = slot_of(key);
    while (rt->table[hole].key != key)
        hole = (hole + 1) & mask;
    for (size_t k = (hole + 1) & mask; rt->table[k].key != NULL; k = (k + 1) & mask) {
        size_t home = slot_of(rt->table[k].key);
        if (((k - home) & mask) >= ((k - hole) & mask)) {
            rt->table[hole] = rt->table[k];
            hole = k;
        }
    }
    rt->table[hole].key = NULL;
    rt->table_used--;
}

/* -- names in the globals --------------------------------------------------------------------------------------------------------- */

uint32_t
jy_number_take(void)
{
    struct jy_runtime *rt = jy_runtime;
    return rt->nspare != 0 ? rt->spare[--rt->nspare] : ++rt->next_compiled;
}

void
jy_number_give(uint32_t number)
{
    struct jy_runtime *rt = jy_runtime;
    if (rt->nspare == rt->spare_room) {
        size_t room = rt->spare_room == 0 ? 16 : 2 * rt->spare_room;
        uint32_t *bigger = realloc(rt->spare, room * sizeof(*bigger));
        if (bigger == NULL)
            return; /* that number is lost */
        rt->spare = bigger;
        rt->spare_room = room;
    }
    rt->spare[rt->nspare++] = number;
}

static PyObject *
compiled_name(uint32_t number)
{
    PyObject *name = PyUnicode_FromFormat("__compiled_fn_%u", number);
    if (name != NULL)
        PyUnicode_InternInPlace(&name);
    return name;
}

int
jy_function_set_name(PyObject **name, struct jy_function *f, uint32_t number, PyObject *value)
{
    *name = compiled_name(number);
    return *name == NULL ? -1 : PyDict_SetItem(((PyFunctionObject *)f->f_object)->func_globals, *name, value);
}

int
jy_function_reserve_name(struct jy_function *f)
{
    PyObject *name;
    f->f_reserved = jy_number_take();
    int status = jy_function_set_name(&name, f, f->f_reserved, Py_None);
    Py_XDECREF(name);
    return status;
}

/* Keeps whatever exception is set. */
static void
remove_name(PyObject *globals, uint32_t number)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *name = compiled_name(number);
    if (name == NULL || PyDict_DelItem(globals, name) < 0)
        PyErr_Clear();
    Py_XDECREF(name);
    PyErr_Restore(type, value, traceback);
}

/* -- entries --------------------------------------------------------------------------------------------------------------------- */

/* Before the function dies, also while a call still runs in the entry. */
static void
forget_name(struct jy_entry *entry)
{
    if (entry->e_globals != NULL)
        remove_name(entry->e_globals, entry->e_number);
    entry->e_globals = NULL;
}

void
jy_entry_release(struct jy_entry *entry)
{
    if (--entry->e_refs > 0)
        return;
    forget_name(entry);
    jy_quick_free(entry->e_quick);
    jy_guards_free(entry->e_guards);
    jy_flow_exec_free(entry->e_flow);
    if (entry->e_compiled != NULL)
        jy_exec_set_globals(entry->e_exec, NULL); /* borrowed: it may outlive the function */
    jy_new_code_clear(&entry->e_new);
    Py_XDECREF(entry->e_compiled);
    Py_XDECREF(entry->e_runner);
    if (entry->e_number != 0)
        jy_number_give(entry->e_number); /* only now: nothing runs any more that could look the name up */
    free(entry);
}

void
jy_start_drop_entries(struct jy_start *s)
{
    struct jy_entry *entry = s->s_entries;
    s->s_entries = NULL;
    s->s_nentries = 0;
    while (entry != NULL) {
        struct jy_entry *next = entry->e_next;
        entry->e_next = NULL;
        forget_name(entry);
        jy_entry_release(entry);
        entry = next;
    }
}

/* -- states ------------------------------------------------------------------------------------------------------------------------ */

/* What the entries were made for: a write to __code__ or __defaults__ is seen by comparing pointers at each call. */
static void
remember_parts(struct jy_function *f)
{
    PyFunctionObject *object = (PyFunctionObject *)f->f_object;
    PyCodeObject *code = (PyCodeObject *)object->func_code;
    Py_XSETREF(f->f_code, Py_NewRef(object->func_code));
    Py_XSETREF(f->f_defaults, Py_XNewRef(object->func_defaults));
    Py_XSETREF(f->f_kwdefaults, Py_XNewRef(object->func_kwdefaults));
    f->f_loops = 0;
    f->f_nparams = (uint32_t)code->co_argcount;
    f->f_simple = code->co_kwonlyargcount == 0 && (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) == 0;
}

void
jy_function_reset(struct jy_function *f)
{
    jy_start_drop_entries(&f->f_call);
    jy_starts_clear(f);
    for (size_t k = f->f_nmarked; k < f->f_ndynamic; k++)
        free(f->f_dynamic[k]);
    f->f_ndynamic = f->f_nmarked;
    if (f->f_dynamic != NULL)
        f->f_dynamic[f->f_nmarked] = NULL;
    f->f_off = f->f_recurses = false;
    f->f_nunrolled = 0;
    f->f_call.s_refused = f->f_call.s_misses = 0;
    f->f_call.s_off = f->f_call.s_no_flow = f->f_call.s_no_alias = f->f_call.s_no_natives = false;
    f->f_stats = (struct jy_stats){ 0 };
    jy_never_slower_forget(f);
    Py_CLEAR(f->f_reasons);
    remember_parts(f);
}

struct jy_function *
jy_function_new(PyObject *object)
{
    struct jy_function *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    f->f_object = object;
    f->f_globals = ((PyFunctionObject *)object)->func_globals;
    f->f_ints = -1;
    f->f_limit = -1;
    f->f_fastmath = jy_runtime->config.fastmath != 0;
    f->f_id = ++jy_runtime->next_function;
    jy_never_slower_forget(f);
    remember_parts(f);
    return f;
}

void
jy_function_free(struct jy_function *f)
{
    if (f == NULL)
        return;
    if (f->f_listed)
        table_remove(f->f_object);
    jy_start_drop_entries(&f->f_call);
    jy_starts_clear(f);
    if (f->f_reserved != 0) {
        remove_name(f->f_globals, f->f_reserved);
        jy_number_give(f->f_reserved);
    }
    f->f_object = NULL;
    jy_api_free_texts(f->f_dynamic);
    jy_api_free_texts(f->f_fixed);
    free(f->f_unrolled);
    free(f->f_error);
    Py_XDECREF(f->f_reasons);
    Py_XDECREF(f->f_backend);
    Py_XDECREF(f->f_code);
    Py_XDECREF(f->f_defaults);
    Py_XDECREF(f->f_kwdefaults);
    Py_XDECREF(f->f_weak);
    jy_trial_free(f->f_trial);
    free(f);
}

/* The weak reference's callback: `self` is a capsule with the state. */
static PyObject *
function_died(PyObject *self, PyObject *Py_UNUSED(reference))
{
    jy_function_free(PyCapsule_GetPointer(self, NULL));
    Py_RETURN_NONE;
}

static PyMethodDef died_method = { "function_died", function_died, METH_O, NULL };

int
jy_function_attach(struct jy_function *f)
{
    if (f->f_weak != NULL)
        return 0;
    PyObject *capsule = PyCapsule_New(f, NULL, NULL), *callback = NULL;
    if (capsule != NULL)
        callback = PyCFunction_New(&died_method, capsule);
    Py_XDECREF(capsule);
    if (callback == NULL)
        return -1;
    f->f_weak = PyWeakref_NewRef(f->f_object, callback);
    Py_DECREF(callback);
    if (f->f_weak == NULL || jy_function_list(f) < 0) {
        Py_CLEAR(f->f_weak);
        return -1;
    }
    return 0;
}

int
jy_function_install(struct jy_function *f)
{
    if (!jy_compat_has_function_vectorcall())
        return 0;
    if (jy_function_attach(f) < 0)
        return -1;
    if (f->f_plain == NULL) {
        f->f_plain = jy_compat_get_vectorcall(f->f_object);
        f->f_version = jy_compat_function_version(f->f_object);
        jy_compat_set_vectorcall(f->f_object, jy_entry_vectorcall);
    }
    return 0;
}

void
jy_function_uninstall(struct jy_function *f)
{
    if (!jy_compat_has_function_vectorcall() || f->f_plain == NULL)
        return;
    jy_compat_restore_vectorcall(f->f_object, f->f_plain, f->f_version);
    f->f_plain = NULL;
}
