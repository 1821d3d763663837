/* How many rounds, on how many threads, and what if one fails.
 *
 *     known to be short? -> none: the loop itself does them
 *     not known?         -> a few rounds on this thread, timed; short -> the loop itself does the rest
 *     else               -> threads take grains of rounds in order, until none is left, somebody fails, or the interpreter has something to do
 *
 *  1. The GIL is held by whoever asks: other threads of Python's neither see nor change anything meanwhile. Pieces touch no object of Python's, so the helpers do not need it.
 *  2. Grains are taken in order and ended by whoever took them: what is done is a beginning of the rounds, and the loop goes on behind it. At its poll it is left as ever.
 *  3. Where a piece can fail, the arrays that it changes are copied first. If one does, all are as they were, and the loop itself does the rounds: it fails in its own order.
 *  4. Rounds that take long are left in the middle for the interpreter, by their own polls, and undone as if they had failed. Short ones are ended first. */
#include "runtime/flow_spread.h"
#include "runtime/numpy_api.h"
#include "runtime/pool.h"
#include "runtime/undo.h"
#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Taste. */
#define GRAIN_NS 20000.0 /* a grain takes at least as long, where there are rounds enough */
#define LONG_NS 2e6      /* ... and at most; longer rounds are not waited for */
#define LEARN_NS 20000.0 /* so long rounds are timed */
#define BYTES_PER_NS 4.0 /* copying */
#define MOST_SAVED ((int64_t)1 << 30)
#define RELEARN 64u /* of so many that are too short, one is timed again */
#define MOST_RESTING 1024u
#define MOST_ARRAYS 16u
#define WORKER_STACK 0x80000u /* bytes that machine code may use of a helper's */

struct seat {
    union jy_scalar *value; /* per w_last */
    int64_t *round;         /* of the grain that said so; -1: none has */
    char apart[64];         /* from the next one's cache line */
};

struct region {
    struct jy_flow_call *call;
    jy_flow_piece piece;
    const union jy_scalar *args;
    const struct jy_flow *flow;
    int64_t rounds, grain;
    bool may_leave; /* rounds are long: the one who asks watches the interpreter in them */
    fenv_t environment;
    atomic_int_least64_t next;
    atomic_bool stop, failed;
    uint32_t leave; /* what helpers watch: machine code reads it as it does the interpreter's word */
    struct seat *seats;
    double busy_ns; /* of the one who asks, for its rounds */
    int64_t own_rounds;
};

void
jy_spread_prepare(struct jy_spread_site *site, const struct jy_flow *flow)
{
    memset(site, 0, sizeof *site);
    if (!flow->w_is_piece)
        return;
    site->flow = flow;
    for (size_t k = 0; k < flow->w_exits.n; k++) {
        site->has_checks |= flow->w_exits.at[k].x_kind == JY_EXIT_CHECK;
        site->has_polls |= flow->w_exits.at[k].x_kind == JY_EXIT_POLL;
    }
    for (size_t k = 0; k < flow->w_last.n; k++) /* the sum of the parts may not fit */
        site->has_checks |= flow->w_last.at[k].how == JY_LAST_SUM && flow->w_last.at[k].type == JY_F_I64;
}

static double
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool
has_to_poll(const struct jy_flow_call *call)
{
    return (*call->watch & call->watch_mask) != 0;
}

/* ---- what rounds knew ---- */

/* False: it does not fit. */
static bool
add(union jy_scalar *sum, uint8_t type, union jy_scalar x)
{
    if (type == JY_F_F64)
        sum->d += x.d;
    else if (type == JY_F_F32)
        sum->f += x.f;
    else
        return !__builtin_add_overflow(sum->i, x.i, &sum->i);
    return true;
}

static bool
note(const struct region *r, struct seat *seat, const union jy_scalar *last, int64_t from)
{
    for (size_t k = 0; k < r->flow->w_last.n; k++) {
        const struct jy_flow_last *what = &r->flow->w_last.at[k];
        if ((last[2 * k + 1].bits & 0xff) == 0)
            continue;
        if (what->how == JY_LAST_SUM && seat->round[k] >= 0) {
            if (!add(&seat->value[k], what->type, last[2 * k]))
                return false;
        } else {
            seat->value[k] = last[2 * k];
        }
        seat->round[k] = from;
    }
    return true;
}

static bool
gather(union jy_scalar *last, const struct region *r, unsigned nseats)
{
    for (size_t k = 0; k < r->flow->w_last.n; k++) {
        const struct jy_flow_last *what = &r->flow->w_last.at[k];
        int64_t best = -1;
        for (unsigned s = 0; s < nseats; s++) {
            const struct seat *seat = &r->seats[s];
            if (seat->round[k] < 0)
                continue;
            if (what->how == JY_LAST_SUM) {
                if (!add(&last[k], what->type, seat->value[k]))
                    return false;
            } else if (seat->round[k] > best) {
                best = seat->round[k];
                last[k] = seat->value[k];
            }
        }
    }
    return true;
}

/* ---- working ---- */

static void
ignore_left(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    (void)call, (void)function, (void)exit, (void)out;
}

static void
give_up(struct region *r)
{
    atomic_store(&r->failed, true);
    atomic_store(&r->stop, true);
    __atomic_store_n(&r->leave, 1, __ATOMIC_RELAXED);
}

static void
work(void *context, unsigned who)
{
    struct region *r = context;
    struct seat *seat = &r->seats[who];
    struct jy_flow_call own = *r->call;
    union jy_scalar last[2 * JY_PIECE_MOST_LAST];
    double start = who == 0 ? now_ns() : 0;
    fenv_t before;
    own.push = ignore_left;
    if (who != 0) {
        own.stack = (uintptr_t)&own - WORKER_STACK;
        fegetenv(&before);
        fesetenv(&r->environment);
    }
    if (who != 0 || !r->may_leave) {
        own.watch = &r->leave;
        own.watch_mask = 1;
    }
    while (!atomic_load(&r->stop)) {
        int64_t from = atomic_fetch_add(&r->next, r->grain);
        int64_t to = from + r->grain < r->rounds ? from + r->grain : r->rounds;
        if (from >= r->rounds)
            break;
        if (r->piece(&own, r->args, from, to, last) || !note(r, seat, last, from)) {
            give_up(r);
            break;
        }
        if (who == 0) {
            r->own_rounds += to - from;
            if (has_to_poll(r->call))
                atomic_store(&r->stop, true);
        }
    }
    if (who == 0)
        r->busy_ns += now_ns() - start;
    else
        fesetenv(&before);
}

static bool
make_seats(struct region *r, unsigned n)
{
    size_t nlast = r->flow->w_last.n;
    r->seats = calloc(n, sizeof *r->seats);
    for (unsigned k = 0; r->seats != NULL && k < n; k++) {
        struct seat *s = &r->seats[k];
        s->value = malloc((nlast + 1) * sizeof *s->value);
        s->round = malloc((nlast + 1) * sizeof *s->round);
        if (s->value == NULL || s->round == NULL)
            return false;
        for (size_t i = 0; i < nlast; i++)
            s->round[i] = -1;
    }
    return r->seats != NULL;
}

static void
free_seats(struct region *r, unsigned n)
{
    for (unsigned k = 0; r->seats != NULL && k < n; k++) {
        free(r->seats[k].value);
        free(r->seats[k].round);
    }
    free(r->seats);
}

/* Rounds up to `to`, on so many threads. False: one has failed. */
static bool
go(struct region *r, unsigned threads, int64_t to, int64_t grain)
{
    int64_t rounds = r->rounds;
    r->rounds = to;
    r->grain = grain;
    r->own_rounds = 0;
    r->busy_ns = 0;
    if (threads > 1)
        jy_pool_run(threads, work, r);
    else
        work(r, 0);
    r->rounds = rounds;
    if (atomic_load(&r->next) > to) /* taken, and found to be none */
        atomic_store(&r->next, to);
    return !atomic_load(&r->failed);
}

static double
least(double a, double b)
{
    return a < b ? a : b;
}

static int64_t
grain_of(double ns, int64_t rounds, unsigned threads)
{
    int64_t share = rounds / (8 * (int64_t)threads), grain = share;
    if (ns > 0) {
        int64_t shortest = (int64_t)least(GRAIN_NS / ns, (double)rounds);
        int64_t longest = (int64_t)least(LONG_NS / ns, (double)rounds);
        grain = grain < shortest ? shortest : grain > longest ? longest : grain;
    }
    return grain < 1 ? 1 : grain;
}

/* ---- arrays ---- */

/* How many it changes; -1: too many. */
static int
find_arrays(struct jy_region *out, int64_t *bytes, const struct jy_flow *flow, PyObject *const *inputs)
{
    unsigned n = 0;
    PyObject *seen[MOST_ARRAYS];
    for (uint32_t k = 0; k < flow->w_nalias; k++) {
        if (!flow->w_alias_written[k] || flow->w_alias[k] == JY_NO_FV)
            continue;
        PyObject *object = inputs[flow->w_alias[k]];
        unsigned known = 0;
        while (known < n && seen[known] != object)
            known++;
        if (known < n)
            continue;
        if (n == MOST_ARRAYS || !PyArray_Check(object))
            return -1;
        PyArrayObject *a = (PyArrayObject *)object;
        seen[n] = object;
        struct jy_region *r = &out[n++];
        r->data = PyArray_BYTES(a);
        r->ndim = (size_t)PyArray_NDIM(a);
        r->itemsize = (size_t)PyArray_ITEMSIZE(a);
        for (size_t d = 0; d < r->ndim; d++) {
            r->shape[d] = PyArray_DIM(a, (int)d);
            r->stride[d] = PyArray_STRIDE(a, (int)d);
        }
        *bytes += jy_region_bytes(r);
    }
    return (int)n;
}

/* ---- deciding ---- */

static void
rest(struct jy_spread_site *site)
{
    site->failed++;
    site->undone++;
    site->resting = site->failed > 10 ? MOST_RESTING : 1u << site->failed;
}

/* Times the first rounds on this thread. False: one has failed. */
static bool
learn(struct jy_spread_site *site, struct region *r)
{
    double spent = 0;
    int64_t done = 0;
    r->may_leave = true;
    for (int64_t n = 1; spent < LEARN_NS && done < r->rounds && !atomic_load(&r->stop); n *= 4) {
        int64_t to = done + n < r->rounds ? done + n : r->rounds;
        if (!go(r, 1, to, to - done))
            return false;
        spent += r->busy_ns;
        done = to;
    }
    site->ns = spent / (double)done;
    return true;
}

static bool
is_too_short(struct jy_spread_site *site, int64_t rounds, int64_t saved, double least_ns)
{
    if (site->ns == 0 || site->doubted || site->ns * (double)rounds >= least_ns + 4 * (double)saved / BYTES_PER_NS ||
        ++site->skipped % RELEARN == 0)
        return false;
    site->since = now_ns();
    site->begun = rounds;
    return true;
}

/* What came behind the loop took time as well, so that much more than was known is only a reason to look again: once for each such amount. */
void
jy_spread_settle(struct jy_spread_site *site)
{
    double ns = site->since != 0 ? (now_ns() - site->since) / (double)site->begun : 0;
    site->since = 0;
    if (ns > 4 * site->ns && ns > 4 * site->told) {
        site->told = ns;
        site->doubted = true;
    }
}

int64_t
jy_spread_run(struct jy_spread_site *site, struct jy_flow_call *call, jy_flow_piece piece, const union jy_scalar *args,
              int64_t rounds, union jy_scalar *last, PyObject *const *inputs, unsigned threads, double least_ns)
{
    struct jy_region arrays[MOST_ARRAYS];
    struct jy_undo undo = { 0 };
    int64_t bytes = 0, done = 0;
    bool knows = least_ns > 0 && site->ns > 0;
    if (threads > (unsigned)JY_POOL_MOST)
        threads = JY_POOL_MOST;
    if (site->resting > 0) {
        site->resting--;
        return 0;
    }
    bool is_long = knows ? site->ns > LONG_NS : least_ns > 0;
    bool saves = site->has_checks || (site->has_polls && is_long);
    int narrays = find_arrays(arrays, &bytes, site->flow, inputs);
    if (narrays < 0 || (saves && bytes > MOST_SAVED) ||
        (least_ns > 0 && is_too_short(site, rounds, saves ? bytes : 0, least_ns)))
        return 0;
    if (threads == 0 && (threads = jy_pool_cores()) < 2)
        return 0;
    struct region r = { .call = call, .piece = piece, .args = args, .flow = site->flow, .rounds = rounds };
    fegetenv(&r.environment);
    bool ready = make_seats(&r, threads) && (!saves || narrays == 0 || jy_undo_save(&undo, arrays, (size_t)narrays));
    bool good = ready;
    if (good && least_ns > 0 && (!knows || site->doubted || site->skipped != 0)) {
        site->skipped = 0;
        site->doubted = false;
        good = learn(site, &r);
    }
    double left = site->ns * (double)(rounds - atomic_load(&r.next));
    if (good && !atomic_load(&r.stop) && (least_ns == 0 || left >= least_ns)) {
        r.may_leave = saves && least_ns > 0 && site->ns > LONG_NS;
        site->runs++;
        good = go(&r, threads, rounds, grain_of(least_ns > 0 ? site->ns : 0, rounds, threads));
        if (good && least_ns > 0 && r.own_rounds > 0)
            site->ns = r.busy_ns / (double)r.own_rounds;
    }
    union jy_scalar before[JY_PIECE_MOST_LAST];
    memcpy(before, last, site->flow->w_last.n * sizeof *last);
    if (good && !gather(last, &r, threads)) {
        memcpy(last, before, site->flow->w_last.n * sizeof *last);
        good = false;
    }
    if (good) {
        done = atomic_load(&r.next);
        site->failed = 0;
        jy_undo_drop(&undo);
    } else if (ready) {
        jy_undo_restore(&undo);
        if (!has_to_poll(call))
            rest(site);
        else
            site->resting = 4; /* whoever asks so often is let in by the loop itself */
    }
    free_seats(&r, threads);
    return done;
}
