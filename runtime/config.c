#include "runtime/config.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum type { TYPE_INT, TYPE_BOOL, TYPE_EXEC };

struct row {
    const char *name;
    enum type type;
    int64_t value;
    const char *env, *help;
    size_t offset;
};

static const struct row rows[] = {
#define CONFIG(type, name, value, env, help) { #name, TYPE_##type, value, env, help, offsetof(struct jy_config, name) },
#include "runtime/config.def"
#undef CONFIG
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

static const struct {
    const char *name, *help;
} channels[JY_LOG_COUNT] = {
#define LOG(name, help) { #name, help },
#include "runtime/logs.def"
#undef LOG
};

static const char *const executors[] = { "llvm", "loop", "graph", "numpy" }; /* ORDER enum jy_executor */
static const char *const types[] = { "int", "bool", "executor" };
static const char *const values[] = { "a number from 0 on", "True or False", "llvm, loop, graph or numpy" };

static int64_t *
slot(struct jy_config *config, const struct row *row)
{
    return (int64_t *)((char *)config + row->offset);
}

static int64_t
get(const struct jy_config *config, const struct row *row)
{
    return *(const int64_t *)((const char *)config + row->offset);
}

static bool
parse_value(int64_t *out, enum type type, const char *text)
{
    static const char *const yes[] = { "1", "true", "yes", "on" }, *const no[] = { "0", "false", "no", "off", "" };
    char *end;

    switch (type) {
    case TYPE_INT:
        *out = strtoll(text, &end, 10);
        return end != text && *end == '\0' && *out >= 0;
    case TYPE_BOOL:
        for (size_t k = 0; k < sizeof(yes) / sizeof(yes[0]); k++)
            if (strcmp(text, yes[k]) == 0)
                return *out = 1, true;
        for (size_t k = 0; k < sizeof(no) / sizeof(no[0]); k++)
            if (strcmp(text, no[k]) == 0)
                return *out = 0, true;
        return false;
    case TYPE_EXEC:
        for (int64_t k = 0; k < 4; k++)
            if (strcmp(text, executors[k]) == 0)
                return *out = k, true;
        return false;
    }
    return false;
}

int
jy_log_from_name(const char *name)
{
    for (int k = 0; k < JY_LOG_COUNT; k++)
        if (strcmp(channels[k].name, name) == 0)
            return k;
    return -1;
}

/* JITNEY_LOGS=graph,ir */
static int
read_channels(struct jy_logs *logs, const char *text)
{
    while (*text != '\0') {
        char name[32];
        size_t n = strcspn(text, ", ");
        snprintf(name, sizeof(name), "%.*s", (int)(n < 31 ? n : 31), text);
        int channel = jy_log_from_name(name);
        if (channel >= 0)
            logs->on[channel] = true;
        else if (n > 0 &&
                 PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                                  "JITNEY_LOGS: there is no channel '%s'; python -m jitney info lists them", name) < 0)
            return -1;
        text += n;
        text += strspn(text, ", ");
    }
    return 0;
}

static int
open_log(struct jy_logs *logs, const char *path)
{
    PyObject *io = PyImport_ImportModule("io");
    if (io == NULL)
        return -1;
    logs->file = PyObject_CallMethod(io, "open", "ss", path, "a");
    Py_DECREF(io);
    if (logs->file != NULL)
        return 0;
    PyErr_Clear();
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                            "JITNEY_LOGS_FILE: '%s' cannot be opened; logs go to standard error", path);
}

int
jy_config_init(struct jy_config *config, struct jy_logs *logs)
{
    for (size_t k = 0; k < NROWS; k++) {
        int64_t value = rows[k].value;
        const char *text = getenv(rows[k].env);
        if (text != NULL && !parse_value(&value, rows[k].type, text)) {
            value = rows[k].value;
            if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s: '%s' is not %s; the default is used", rows[k].env, text,
                                 values[rows[k].type]) < 0)
                return -1;
        }
        *slot(config, &rows[k]) = value;
    }
    const char *names = getenv("JITNEY_LOGS"), *path = getenv("JITNEY_LOGS_FILE");
    if (names != NULL && read_channels(logs, names) < 0)
        return -1;
    return path != NULL && *path != '\0' ? open_log(logs, path) : 0;
}

static const struct row *
find(const char *name)
{
    for (size_t k = 0; k < NROWS; k++)
        if (strcmp(rows[k].name, name) == 0)
            return &rows[k];
    PyErr_Format(PyExc_AttributeError, "jitney.config has no switch '%s'; python -m jitney config lists them", name);
    return NULL;
}

static PyObject *
value_object(const struct row *row, int64_t value)
{
    switch (row->type) {
    case TYPE_BOOL:
        return PyBool_FromLong(value != 0);
    case TYPE_EXEC:
        return PyUnicode_FromString(executors[value]);
    case TYPE_INT:
        break;
    }
    return PyLong_FromLongLong(value);
}

PyObject *
jy_config_get(const struct jy_config *config, const char *name)
{
    const struct row *row = find(name);
    return row == NULL ? NULL : value_object(row, get(config, row));
}

int
jy_config_set(struct jy_config *config, const char *name, PyObject *value)
{
    const struct row *row = find(name);
    if (row == NULL)
        return -1;
    PyObject *text = PyObject_Str(value);
    if (text == NULL)
        return -1;
    const char *utf8 = PyUnicode_AsUTF8(text);
    int64_t parsed = 0;
    bool ok = utf8 != NULL;
    if (ok && row->type == TYPE_BOOL && PyBool_Check(value))
        parsed = value == Py_True;
    else if (ok && !parse_value(&parsed, row->type, utf8)) {
        PyErr_Format(PyExc_ValueError, "jitney.config.%s takes %s, not %R", name, values[row->type], value);
        ok = false;
    }
    Py_DECREF(text);
    if (ok)
        *slot(config, row) = parsed;
    return ok ? 0 : -1;
}

PyObject *
jy_config_rows(const struct jy_config *config)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < NROWS; k++) {
        PyObject *row = Py_BuildValue("ssNss", rows[k].name, types[rows[k].type],
                                      value_object(&rows[k], get(config, &rows[k])), rows[k].env, rows[k].help);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *
jy_log_rows(const struct jy_logs *logs)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; list != NULL && k < JY_LOG_COUNT; k++) {
        PyObject *row = Py_BuildValue("sNs", channels[k].name, PyBool_FromLong(logs->on[k]), channels[k].help);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* A log that cannot be written is no error of the program's, but an interrupt that came meanwhile is for the program: it comes again. */
static void
forget_error(PyObject *file, bool report)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    } else if (report) {
        PyErr_WriteUnraisable(file);
    } else {
        PyErr_Clear();
    }
}

static void
write_line(PyObject *file, PyObject *line)
{
    if (line == NULL || PyFile_WriteObject(line, file, Py_PRINT_RAW) < 0)
        forget_error(file, true);
}

void
jy_log_print(struct jy_logs *logs, enum jy_log channel, const char *text)
{
    PyObject *error_type, *error, *traceback;
    PyErr_Fetch(&error_type, &error, &traceback);
    PyObject *file = logs->file != NULL ? logs->file : PySys_GetObject("stderr");
    if (file != NULL && file != Py_None) {
        Py_INCREF(file);
        while (*text != '\0') {
            size_t n = strcspn(text, "\n");
            PyObject *part = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
            PyObject *line = part == NULL ? NULL
                                          : PyUnicode_FromFormat("[%u/%u] %s: %U\n", logs->frame, logs->attempt,
                                                                 channels[channel].name, part);
            write_line(file, line);
            Py_XDECREF(part);
            Py_XDECREF(line);
            text += n + (text[n] == '\n');
        }
        PyObject *flushed = PyObject_CallMethod(file, "flush", NULL);
        if (flushed == NULL)
            forget_error(file, false);
        Py_XDECREF(flushed);
        Py_DECREF(file);
    }
    PyErr_Restore(error_type, error, traceback);
}
