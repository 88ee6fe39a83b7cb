/*
 * member.c - which member of which structure an access refers to, according to the declaration of the
 * pointer: for the assumption `members`.
 *
 * Memory that a program hands out itself (slabs, pools, buffers) has no type, and whatever pointer may lead
 * into it may meet any other there. The language's rules (alias.c) help little: a `char` member overlaps
 * everything. But for most accesses the source shows which member they refer to: the pointer is held by a
 * variable that is declared to point to a structure (typed.c), or the compiler says so of the access. A place
 * in memory is one structure at a time; so two accesses are to different places if they are to different
 * members of one structure, or to members of two structures neither of which has the other in it.
 *
 * Only plain members count: in unions and arrays a program may keep anything. Members that share a word are
 * treated as one: the compiler reads and writes neighbours together, in the line of either.
 */
#include <stdlib.h>

#include "ir/whole/model.h"
#include "ir/whole/shim_types.h"

enum { WORD = 8, TWO_WORDS = 16 }; /* links are laid over blocks that are free */

struct numbering {
    struct dh_w *w;
    struct dh_w_table type_of, member_of;
    const void **types; /* structures, one of each name */
    size_t n_types, cap_types;
    size_t cap_members;
};

static u32 number_of_type(struct numbering *n, const void *type)
{
    struct dh_w_key key = DH_W_KEY((u64)(uptr)type);
    u32 known = dh_w_table_get(&n->type_of, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    for (known = 0; known < n->n_types && !dh_shim_type_same(n->types[known], type);)
        known++;
    if (known == n->n_types) {
        n->types = dh_util_grow(n->types, n->n_types, &n->cap_types, sizeof *n->types);
        n->types[n->n_types++] = type;
    }
    dh_w_table_put(&n->type_of, key, known);
    return known;
}

static u32 number_of(struct numbering *n, const struct dh_w_fn *f, const struct dh_w_op *op)
{
    struct dh_w *w = n->w;
    int64_t offset = 0;
    if (op->access == DH_W_NO_ACCESS || op->length == DH_PTS_ANY || op->length == 0)
        return 0;
    const void *type = dh_w_typed_base(f, op->a, &offset);
    if (type == NULL && (LLVMIsALoadInst(op->inst) != NULL || LLVMIsAStoreInst(op->inst) != NULL)) {
        unsigned long long at = 0;
        type = dh_shim_types_access(w->known, op->inst, &at);
        offset = (int64_t)at;
    }
    if (type == NULL || offset < 0 || dh_shim_type_size(w->known, type) <= TWO_WORDS ||
        !dh_shim_type_plain(w->known, type, (unsigned long long)offset, op->length))
        return 0;
    struct dh_w_member m = {number_of_type(n, type), (u32)offset, op->length};
    struct dh_w_key key = DH_W_KEY(m.type, m.start, m.length);
    u32 known = dh_w_table_get(&n->member_of, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    w->members = dh_util_grow(w->members, w->n_members, &n->cap_members, sizeof *w->members);
    w->members[w->n_members] = m;
    dh_w_table_put(&n->member_of, key, (u32)w->n_members);
    return (u32)w->n_members++;
}

void dh_w_members_find(struct dh_w *w)
{
    struct numbering n = {.w = w};
    w->members = dh_util_grow(w->members, 0, &n.cap_members, sizeof *w->members);
    w->members[w->n_members++] = (struct dh_w_member){0};
    for (size_t f = 0; f < w->n_fns && !w->large; f++)
        for (size_t o = 0; o < w->fns[f].n_ops; o++)
            w->fns[f].ops[o].member = number_of(&n, &w->fns[f], &w->fns[f].ops[o]);
    w->n_structures = (u32)n.n_types;
    w->related = calloc(n.n_types * n.n_types / 8 + 1, 1);
    if (w->related == NULL)
        dh_util_no_memory();
    for (size_t i = 0; i < n.n_types; i++)
        for (size_t j = 0; j < n.n_types; j++)
            if (dh_shim_type_related(w->known, n.types[i], n.types[j]))
                w->related[(i * n.n_types + j) / 8] |= (u8)(1u << (i * n.n_types + j) % 8);
    dh_w_table_done(&n.type_of);
    dh_w_table_done(&n.member_of);
    free(n.types);
}

bool dh_w_members_apart(const struct dh_w *w, u32 a, u32 b)
{
    const struct dh_w_member *x = &w->members[a], *y = &w->members[b];
    if (a == 0 || b == 0)
        return false;
    if (x->type == y->type)
        return (x->start + x->length - 1) / WORD < y->start / WORD ||
               (y->start + y->length - 1) / WORD < x->start / WORD;
    size_t bit = (size_t)x->type * w->n_structures + y->type;
    return !(w->related[bit / 8] >> bit % 8 & 1);
}
