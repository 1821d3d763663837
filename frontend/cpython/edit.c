/* Changes to a decoded code object: the list is spliced, ids stay. */
#include "frontend/cpython/edit.h"

#include "frontend/cpython/compat.h"

/* At the end of the pool, not linked yet. */
static int
new_instr(struct jy_code *code, int op, int arg, struct jy_position position)
{
    *jy_vec_push(code->c_arena, &code->c_instrs) = (struct jy_instr){
        .i_op = (uint8_t)op,
        .i_caches = (uint8_t)jy_instr_caches(op),
        .i_arg = arg,
        .i_target = JY_NO_INSTR,
        .i_next = JY_NO_INSTR,
        .i_prev = JY_NO_INSTR,
        .i_id = JY_NO_INSTR,
        .i_span = 1,
        .i_offset = -1,
        .i_depth = -1,
        .i_position = position,
    };
    return (int)code->c_instrs.n - 1;
}

static void
link_between(struct jy_code *code, int prev, int id, int next)
{
    jy_code_at(code, id)->i_prev = prev;
    jy_code_at(code, id)->i_next = next;
    *(prev == JY_NO_INSTR ? &code->c_first : &jy_code_at(code, prev)->i_next) = id;
    *(next == JY_NO_INSTR ? &code->c_last : &jy_code_at(code, next)->i_prev) = id;
}

int
jy_edit_insert_before(struct jy_code *code, int at, int op, int arg)
{
    int id = new_instr(code, op, arg, jy_code_at(code, at)->i_position);
    link_between(code, jy_code_at(code, at)->i_prev, id, at);
    return id;
}

int
jy_edit_insert_after(struct jy_code *code, int at, int op, int arg)
{
    int id = new_instr(code, op, arg, jy_code_at(code, at)->i_position);
    link_between(code, at, id, jy_code_at(code, at)->i_next);
    return id;
}

int
jy_edit_append(struct jy_code *code, int op, int arg)
{
    if (code->c_cursor == JY_NO_INSTR)
        return jy_edit_insert_after(code, code->c_last, op, arg);
    return jy_edit_insert_before(code, code->c_cursor, op, arg);
}

void
jy_edit_set_target(struct jy_code *code, int id, int target)
{
    jy_code_at(code, id)->i_target = target;
}

void
jy_edit_delete(struct jy_code *code, int id)
{
    jy_code_at(code, id)->i_dead = true;
}

void
jy_edit_unlink_dead(struct jy_code *code)
{
    int next = JY_NO_INSTR, prev = JY_NO_INSTR;
    for (int id = code->c_last; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_prev) {
        jy_code_at(code, id)->i_next = next;
        next = jy_code_at(code, id)->i_dead ? next : id;
    }
    code->c_first = next;
    for (int id = code->c_first; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next) {
        jy_code_at(code, id)->i_prev = prev;
        prev = id;
    }
    code->c_last = prev;
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        struct jy_handler *h = &code->c_handlers.at[i];
        h->h_start = jy_code_live(code, h->h_start);
        h->h_end = jy_code_live(code, h->h_end);
    }
}

void
jy_edit_retarget(struct jy_code *code, int from, int to)
{
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        if (jy_code_at(code, id)->i_target == from)
            jy_code_at(code, id)->i_target = to;
    }
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        if (code->c_handlers.at[i].h_handler == from)
            code->c_handlers.at[i].h_handler = to;
    }
}

/* Whether `a` comes before `b` in the list. */
static bool
is_before(const struct jy_code *code, int a, int b)
{
    for (int id = jy_code_at(code, a)->i_next; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next) {
        if (id == b)
            return true;
    }
    return false;
}

void
jy_edit_add_handler(struct jy_code *code, struct jy_handler handler)
{
    jy_vec_push(code->c_arena, &code->c_handlers);
    size_t i = code->c_handlers.n - 1;
    for (; i > 0 && is_before(code, handler.h_start, code->c_handlers.at[i - 1].h_start); i--)
        code->c_handlers.at[i] = code->c_handlers.at[i - 1];
    code->c_handlers.at[i] = handler;
}

static int
live_before(const struct jy_code *code, int id)
{
    do
        id = jy_code_at(code, id)->i_prev;
    while (id != JY_NO_INSTR && jy_code_at(code, id)->i_dead);
    return id;
}

bool
jy_edit_is_glued(const struct jy_code *code, int id)
{
    int op = jy_code_at(code, id)->i_op, prev = live_before(code, id);
    if (prev == JY_NO_INSTR)
        return op == COPY_FREE_VARS; /* frames that have not started look for it in the first unit */
    int before = jy_code_at(code, prev)->i_op;
    if (op == RESUME && before == YIELD_VALUE) /* how a suspended generator is recognised */
        return true;
#ifdef PRECALL
    if (before == PRECALL) /* specialised forms skip the CALL */
        return true;
    /* throw() finds the SEND in front of the YIELD_VALUE, and reads its jump without EXTENDED_ARG */
    if (before == SEND || before == JUMP_BACKWARD_NO_INTERRUPT || op == JUMP_BACKWARD_NO_INTERRUPT)
        return true;
#endif
#if PY_VERSION_HEX >= 0x030d0000
    if (before == END_FOR) /* a finished loop skips the POP_TOP, too */
        return true;
#endif
    return false;
}

/* Makes *list a list of its own, from the original's tuple. */
static int
own_list(PyObject **list, PyObject *tuple)
{
    if (*list == NULL)
        *list = PySequence_List(tuple);
    return *list == NULL ? -1 : 0;
}

static int
append(PyObject *list, PyObject *value)
{
    return PyList_Append(list, value) < 0 ? -1 : (int)PyList_GET_SIZE(list) - 1;
}

int
jy_edit_add_const(struct jy_code *code, PyObject *value)
{
    return own_list(&code->c_consts, code->c_origin->co_consts) < 0 ? -1 : append(code->c_consts, value);
}

int
jy_edit_set_const(struct jy_code *code, int index, PyObject *value)
{
    if (own_list(&code->c_consts, code->c_origin->co_consts) < 0)
        return -1;
    return PyList_SetItem(code->c_consts, index, Py_NewRef(value));
}

/* The names that are there already, by name. */
static int
make_name_index(struct jy_code *code)
{
    code->c_name_index = PyDict_New();
    for (Py_ssize_t i = PyList_GET_SIZE(code->c_names); code->c_name_index != NULL && i-- > 0;) {
        PyObject *index = PyLong_FromSsize_t(i);
        if (index == NULL || PyDict_SetItem(code->c_name_index, PyList_GET_ITEM(code->c_names, i), index) < 0)
            Py_CLEAR(code->c_name_index);
        Py_XDECREF(index);
    }
    return code->c_name_index != NULL ? 0 : -1;
}

int
jy_edit_add_name(struct jy_code *code, PyObject *name)
{
    if (own_list(&code->c_names, code->c_origin->co_names) < 0 ||
        (code->c_name_index == NULL && make_name_index(code) < 0))
        return -1;
    PyObject *known = PyDict_GetItemWithError(code->c_name_index, name);
    if (known != NULL || PyErr_Occurred())
        return known != NULL ? (int)PyLong_AsLong(known) : -1;
    int index = append(code->c_names, name);
    PyObject *number = index < 0 ? NULL : PyLong_FromLong(index);
    int failed = number == NULL || PyDict_SetItem(code->c_name_index, name, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : index;
}

/* Cells and free variables have moved up by one. */
static void
shift_cells(struct jy_code *code, int id, int from)
{
    struct jy_instr *instr = jy_code_at(code, id);
    struct jy_instr parts[2];
    if (jy_instr_split(instr, parts)) {
        /* two indices in one argument have four bits each: one that grows may not fit any more */
        instr->i_op = parts[0].i_op;
        instr->i_arg = parts[0].i_arg + (parts[0].i_arg >= from);
        jy_edit_insert_after(code, id, parts[1].i_op, parts[1].i_arg + (parts[1].i_arg >= from));
    } else if (instr->i_arg >= from) {
        instr->i_arg++;
    }
}

/* Does the instruction name a slot from `first` on? */
static bool
is_cell_user(const struct jy_instr *instr, int first)
{
    enum jy_argkind kind = jy_instr_argkind(instr->i_op);
    struct jy_instr parts[2];
    return ((kind == JY_ARG_LOCAL || kind == JY_ARG_DEREF) && instr->i_arg >= first) ||
           (jy_instr_split(instr, parts) && (parts[0].i_arg >= first || parts[1].i_arg >= first));
}

bool
jy_edit_names_cell(const struct jy_code *code, const struct jy_instr *instr)
{
    return code->c_nlocalsplus != code->c_nlocals && is_cell_user(instr, code->c_nlocals);
}

static void
find_cell_users(struct jy_code *code, int first)
{
    for (; code->c_cells_known < code->c_instrs.n; code->c_cells_known++)
        if (is_cell_user(jy_code_at(code, (int)code->c_cells_known), first))
            *jy_vec_push(code->c_arena, &code->c_cell_users) = (int)code->c_cells_known;
}

/* 1: it was added to the names of locals; 0: it is there already; -1: exception. */
static int
add_local_name(struct jy_code *code, PyObject *name)
{
    if (code->c_local_set == NULL)
        code->c_local_set = PySet_New(code->c_origin->co_localsplusnames);
    Py_ssize_t before = code->c_local_set == NULL ? 0 : PySet_GET_SIZE(code->c_local_set);
    if (code->c_local_set == NULL || PySet_Add(code->c_local_set, name) < 0)
        return -1;
    return PySet_GET_SIZE(code->c_local_set) > before;
}

int
jy_edit_add_local(struct jy_code *code, PyObject *name)
{
    int is_new = add_local_name(code, name);
    if (is_new == 0)
        PyErr_Format(PyExc_ValueError, "there is a local named %R already", name);
    if (is_new <= 0 || (code->c_new_locals == NULL && (code->c_new_locals = PyList_New(0)) == NULL) ||
        PyList_Append(code->c_new_locals, name) < 0)
        return -1;
    int index = code->c_nlocals++;
    code->c_nlocalsplus++;
    if (code->c_nlocalsplus == code->c_nlocals)
        return index;
    find_cell_users(code, index);
    for (size_t i = 0, n = code->c_cell_users.n; i < n; i++)
        shift_cells(code, code->c_cell_users.at[i], index);
    return index;
}
