/*
 * tally.c - counts, once the points-to sets are known, the cases of assumptions that depend on them.
 *
 * A copy of bytes matters only if there are pointers in its source, a part of a word only if the word
 * holds a pointer, and a call through a pointer only if nothing was found that it leads to. Each operation of
 * the program counts once, however many instances it has.
 */
#include <stdlib.h>

#include "ir/whole/model.h"

enum { POINTER = 8 };

struct tally {
    struct dh_w *w;
    u8 *holds;               /* by object: pointers are kept in it. 0: not known yet, 1: no, 2: yes */
    struct dh_w_table seen;  /* operations that were counted, by function and op */
    struct dh_w_table leads; /* calls that lead somewhere */
};

static bool has_contents(const struct dh_w *w, dh_pts_location l)
{
    dh_pts_node contents = dh_pts_contents(w->pts, l);
    return contents != DH_PTS_NONE && dh_pts_count(w->pts, contents) > 0;
}

static bool holds_pointers(struct tally *t, u32 object)
{
    const dh_pts_location *fields;
    u32 n = t->holds[object] == 0 ? dh_pts_fields(t->w->pts, object, &fields) : 0;
    if (t->holds[object] == 0)
        t->holds[object] = 1;
    for (u32 i = 0; i < n && t->holds[object] == 1; i++)
        if (has_contents(t->w, fields[i]))
            t->holds[object] = 2;
    return t->holds[object] == 2;
}

static bool may_copy_pointers(struct tally *t, dh_pts_node from)
{
    dh_pts_location l;
    if (from == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(t->w->pts, from); dh_pts_next(&it, &l);)
        if (holds_pointers(t, dh_pts_place(t->w->pts, l).object))
            return true;
    return false;
}

static bool is_copied(LLVMValueRef load)
{
    for (LLVMUseRef u = LLVMGetFirstUse(load); u != NULL; u = LLVMGetNextUse(u))
        if (LLVMIsAStoreInst(LLVMGetUser(u)) != NULL && LLVMGetOperand(LLVMGetUser(u), 0) == load)
            return true;
    return false;
}

/* Where the place is not known, only what is copied counts: anywhere in an object there is always something.
 */
static bool reads_part_of_pointer(struct tally *t, const struct dh_w_op *op, dh_pts_node from)
{
    dh_pts_location l;
    if (op->length >= POINTER || op->dst != DH_W_NONE || from == DH_PTS_NONE)
        return false;
    for (struct dh_pts_iter it = dh_pts_iter(t->w->pts, from); dh_pts_next(&it, &l);) {
        struct dh_pts_place at = dh_pts_place(t->w->pts, l);
        bool known = at.offset != DH_PTS_ANY && !dh_pts_folded(t->w->pts, at.object, at.offset);
        if (known ? has_contents(t->w, l) : is_copied(op->inst) && holds_pointers(t, at.object))
            return true;
    }
    return false;
}

static void count(struct tally *t, enum dh_w_assumption what, u32 fn, u32 op)
{
    struct dh_w_key key = DH_W_KEY(fn, op);
    if (dh_w_table_get(&t->seen, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&t->seen, key, 0);
    dh_w_assume(t->w, what, 1, t->w->fns[fn].ops[op].inst);
}

static void count_op(struct tally *t, u32 inst, u32 o)
{
    struct dh_w *w = t->w;
    u32 fn = w->insts[inst].fn;
    const struct dh_w_op *op = &w->fns[fn].ops[o];
    if (op->kind == DH_W_MEMCPY && (op->flags & DH_W_BYTES)) {
        if (may_copy_pointers(t, dh_w_node(w, inst, op->b)))
            count(t, DH_W_ASSUME_BYTES, fn, o);
    } else if (op->kind == DH_W_LOAD && op->access != DH_W_NO_ACCESS) {
        if (reads_part_of_pointer(t, op, dh_w_node(w, inst, op->a)))
            count(t, DH_W_ASSUME_PIECES, fn, o);
    } else if (op->kind == DH_W_CALL && w->fns[fn].calls[op->call].fn == DH_W_NONE) {
        if (dh_w_table_get(&t->leads, DH_W_KEY(fn, o)) == DH_W_TABLE_NONE)
            count(t, DH_W_ASSUME_INDIRECT, fn, o);
    }
}

void dh_w_tally(struct dh_w *w)
{
    struct tally t = {.w = w, .holds = calloc(w->n_objects + 1, 1)};
    if (t.holds == NULL)
        dh_util_no_memory();
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t e = 0; e < w->insts[i].n_edges; e++)
            dh_w_table_put(&t.leads, DH_W_KEY(w->insts[i].fn, w->insts[i].edges[e].op), 0);
    for (u32 i = 0; i < w->n_insts; i++)
        for (u32 o = 0; o < w->fns[w->insts[i].fn].n_ops && w->insts[i].live; o++)
            count_op(&t, i, o);
    free(t.holds);
    dh_w_table_done(&t.seen);
    dh_w_table_done(&t.leads);
}
