/* Exits: each a cold block that stores what the interpreter will need, in the slots of graph/flow_slots.c, and returns its
 * number. Most of what two neighbouring exits store is the same, and stores are what flows have most of; so exits are the
 * leaves of a tree in which each node stores what all exits below it have in common:
 *
 *     exit.3: store a, b     exit.4: store c       exit.5: store d, e
 *           \                   |                     /
 *            `--- rest: store x, y, z (3, 4) ---.    /
 *                                         rest: store u, v, w; return 3, 4 or 5
 *
 * What all exits below a node name is defined wherever one of them is taken, so it dominates the node. */
#include "emit_flow.h"
#include <stdio.h>
#include <string.h>

#define NO_NODE UINT32_MAX
#define WORTH 3 /* taste: stores for which a node pays */

struct node {
    uint64_t *slots; /* a bit per slot */
    uint32_t exit;   /* JY_NO_EXIT: of several */
    uint32_t parent;
    LLVMBasicBlockRef block; /* NULL: left out */
    LLVMValueRef number;     /* phi: the exit taken */
};

struct tree {
    struct jy_flow_emit *f;
    size_t words;
    struct {
        struct node *at;
        size_t n, cap;
    } nodes;
};

LLVMBasicBlockRef
jy_flow_exit_block(struct jy_flow_emit *f, uint32_t exit)
{
    static const char *const kinds[] = { "check", "stop", "poll", "call", "return" };
    const struct jy_flow_exit *x = &f->w->w_exits.at[exit];
    char name[80];
    if (f->exits[exit] == NULL) {
        snprintf(name, sizeof name, "exit.%u.%s.at%u.line%u", exit, kinds[x->x_kind], x->x_offset, x->x_line);
        f->exits[exit] = l_block(f->e, f->e->want_lines ? name : "");
    }
    return f->exits[exit];
}

/* The tree --------------------------------------------------------------------------------------------------------- */

static uint32_t
add_node(struct tree *t, uint32_t exit)
{
    *jy_vec_push(t->f->e->arena, &t->nodes) =
        (struct node){ .slots = JY_NEW_ARRAY(t->f->e->arena, uint64_t, t->words), .exit = exit, .parent = NO_NODE };
    return (uint32_t)t->nodes.n - 1;
}

static void
add_leaf(struct tree *t, uint32_t exit)
{
    const struct jy_flow_exit *x = &t->f->w->w_exits.at[exit];
    uint32_t node = add_node(t, exit);
    struct node *n = &t->nodes.at[node];
    n->block = t->f->exits[exit];
    for (size_t k = 0; k < x->x_values.n; k++) {
        uint32_t slot = t->f->slot[x->x_values.at[k]];
        if (slot != JY_NO_SLOT && jy_flow_is_stored(t->f->w, x, x->x_values.at[k]))
            n->slots[slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

static unsigned
count_common(const struct tree *t, uint32_t a, uint32_t b)
{
    unsigned n = 0;
    for (size_t k = 0; k < t->words; k++)
        n += (unsigned)__builtin_popcountll(t->nodes.at[a].slots[k] & t->nodes.at[b].slots[k]);
    return n;
}

/* Slots of a node that an ancestor does not fill; NO_NODE: there is none. */
static unsigned
count_own(const struct tree *t, uint32_t node, uint32_t ancestor)
{
    unsigned n = 0;
    for (size_t k = 0; k < t->words; k++)
        n += (unsigned)__builtin_popcountll(t->nodes.at[node].slots[k] &
                                            ~(ancestor == NO_NODE ? 0 : t->nodes.at[ancestor].slots[k]));
    return n;
}

static uint32_t
join(struct tree *t, uint32_t a, uint32_t b)
{
    uint32_t node = add_node(t, JY_NO_EXIT);
    for (size_t k = 0; k < t->words; k++)
        t->nodes.at[node].slots[k] = t->nodes.at[a].slots[k] & t->nodes.at[b].slots[k];
    return t->nodes.at[a].parent = t->nodes.at[b].parent = node;
}

/* Of the neighbours in a row, those with most in common are joined first. `row` has the leaves, `common` room for as
 * many numbers. */
static void
join_all(struct tree *t, uint32_t *row, unsigned *common, size_t n)
{
    for (size_t k = 0; k + 1 < n; k++)
        common[k] = count_common(t, row[k], row[k + 1]);
    while (n > 1) {
        size_t best = 0;
        for (size_t k = 1; k + 1 < n; k++)
            best = common[k] > common[best] ? k : best;
        if (common[best] < WORTH)
            return;
        row[best] = join(t, row[best], row[best + 1]);
        n--;
        memmove(row + best + 1, row + best + 2, (n - best - 1) * sizeof *row);
        memmove(common + best, common + best + 1, (n - best - 1) * sizeof *common);
        if (best > 0)
            common[best - 1] = count_common(t, row[best - 1], row[best]);
        if (best + 1 < n)
            common[best] = count_common(t, row[best], row[best + 1]);
    }
}

/* The nearest ancestor that has a block. Parents stand behind their children. */
static uint32_t
next_block(const struct tree *t, uint32_t node)
{
    do
        node = t->nodes.at[node].parent;
    while (node != NO_NODE && t->nodes.at[node].block == NULL);
    return node;
}

static void
choose_blocks(struct tree *t)
{
    struct jy_emit *e = t->f->e;
    for (size_t k = t->nodes.n; k-- > 0;) {
        struct node *n = &t->nodes.at[k];
        if (n->exit != JY_NO_EXIT || count_own(t, (uint32_t)k, next_block(t, (uint32_t)k)) < WORTH)
            continue;
        n->block = l_block(e, "rest");
        l_at(e, n->block);
        n->number = LLVMBuildPhi(e->builder, e->i32, "exit");
    }
}

/* Code ------------------------------------------------------------------------------------------------------------- */

/* Machine words as union jy_scalar has them. */
static LLVMValueRef
word_of(struct jy_emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (type == e->i1)
        return LLVMBuildZExt(e->builder, v, e->i64, "");
    if (type == e->f32)
        return LLVMBuildZExt(e->builder, LLVMBuildBitCast(e->builder, v, e->i32, ""), e->i64, "");
    bool short_int = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && type != e->i64;
    return short_int ? LLVMBuildSExt(e->builder, v, e->i64, "") : v;
}

/* A function's caller leaves too, behind its INVOKE: what is in `out` goes onto the pile first. */
static void
end_node(struct jy_flow_emit *f, LLVMValueRef number)
{
    struct jy_emit *e = f->e;
    if (f->self == NULL) {
        LLVMBuildRet(e->builder, number);
        return;
    }
    LLVMTypeRef types[] = { e->ptr, e->i32, e->i32, e->ptr };
    LLVMValueRef args[] = { e->call, l_i32(e, (int32_t)f->number), number, f->field[JY_FLOW_FIELD_OUT] };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, 4, false);
    LLVMValueRef at = LLVMBuildStructGEP2(e->builder, f->call_type, e->call, JY_FLOW_FIELD_PUSH, "");
    LLVMBuildCall2(e->builder, type, LLVMBuildLoad2(e->builder, e->ptr, at, "push"), args, 4, "");
    jy_flow_emit_result(f, NULL, true);
}

static void
emit_node(struct tree *t, uint32_t k, const jy_fv *of_slot)
{
    struct jy_flow_emit *f = t->f;
    struct jy_emit *e = f->e;
    const struct node *n = &t->nodes.at[k];
    uint32_t next = next_block(t, k);
    l_at(e, n->block);
    for (size_t word = 0; word < t->words; word++) {
        uint64_t own = n->slots[word] & ~(next == NO_NODE ? 0 : t->nodes.at[next].slots[word]);
        for (; own != 0; own &= own - 1) {
            uint32_t slot = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(own);
            l_store(e, word_of(e, f->value[of_slot[slot]]), jy_flow_slot(f, JY_FLOW_FIELD_OUT, slot), 8);
        }
    }
    LLVMValueRef number = n->number != NULL ? n->number : l_i32(e, (int32_t)n->exit);
    if (next == NO_NODE) {
        end_node(f, number);
        return;
    }
    LLVMAddIncoming(t->nodes.at[next].number, &number, &t->nodes.at[k].block, 1);
    LLVMBuildBr(e->builder, t->nodes.at[next].block);
}

void
jy_flow_emit_exits(struct jy_flow_emit *f)
{
    size_t n = f->w->w_exits.n;
    struct tree t = { .f = f, .words = f->nslots / 64 + 1 };
    uint32_t *row = JY_NEW_ARRAY(f->e->arena, uint32_t, n);
    unsigned *common = JY_NEW_ARRAY(f->e->arena, unsigned, n);
    jy_fv *of_slot = JY_NEW_ARRAY(f->e->arena, jy_fv, f->nslots);
    for (size_t v = 0; v < f->w->w_values.n; v++)
        if (f->slot[v] != JY_NO_SLOT)
            of_slot[f->slot[v]] = (jy_fv)v;
    for (uint32_t x = 0; x < n; x++)
        if (f->exits[x] != NULL)
            add_leaf(&t, x);
    for (uint32_t k = 0; k < t.nodes.n; k++)
        row[k] = k;
    join_all(&t, row, common, t.nodes.n);
    choose_blocks(&t);
    for (uint32_t k = 0; k < t.nodes.n; k++)
        if (t.nodes.at[k].block != NULL)
            emit_node(&t, k, of_slot);
}
