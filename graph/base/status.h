/* The three outcomes of everything that can fail, and the one way to pass them on. */
#ifndef JY_GRAPH_BASE_STATUS_H
#define JY_GRAPH_BASE_STATUS_H

typedef enum jy_status {
    JY_OK = 0,
    JY_BREAK = 1, /* we decline; a reason and a place are recorded, no Python exception is set, nothing has changed */
    JY_ERROR = 2, /* a Python exception is set (frontend/ and runtime/ only) */
    JY_NOMEM = 3, /* no memory; runtime/compile.c turns it into a refusal */
} jy_status;

/* Legal everywhere: the arena owns what has been made so far. */
#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        jy_status try_status_ = (expr);                                                                                \
        if (try_status_ != JY_OK)                                                                                      \
            return try_status_;                                                                                        \
    } while (0)

#endif
