/* Switches and log channels: tables config.def and logs.def as structs. */
#ifndef JY_RUNTIME_CONFIG_H
#define JY_RUNTIME_CONFIG_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef NDEBUG
#define JY_VERIFY_DEFAULT 0
#else
#define JY_VERIFY_DEFAULT 1
#endif

struct jy_config {
#define CONFIG(type, name, value, env, help) int64_t name;
#include "runtime/config.def"
#undef CONFIG
};

enum jy_log {
#define LOG(name, help) JY_LOG_##name,
#include "runtime/logs.def"
#undef LOG
    JY_LOG_COUNT,
};

struct jy_logs {
    bool on[JY_LOG_COUNT];
    PyObject *file;          /* text file object, or NULL: sys.stderr */
    uint32_t frame, attempt; /* prefix of every line */
};

/* Defaults, then the environment. A bad value is a warning, never an error. 0, or -1 with an exception. */
int jy_config_init(struct jy_config *config, struct jy_logs *logs);
/* refs: new; NULL with AttributeError / ValueError */
PyObject *jy_config_get(const struct jy_config *config, const char *name);
int jy_config_set(struct jy_config *config, const char *name, PyObject *value);
/* list of (name, type, value, environment variable, help). refs: new */
PyObject *jy_config_rows(const struct jy_config *config);

int jy_log_from_name(const char *name); /* -1: there is none */
/* Prints `text` line by line, each behind "[frame/attempt] channel: ". Never fails: an error is written off to sys.unraisablehook. */
void jy_log_print(struct jy_logs *logs, enum jy_log channel, const char *text);
PyObject *jy_log_rows(const struct jy_logs *logs); /* list of (name, on, help). refs: new */

#endif
