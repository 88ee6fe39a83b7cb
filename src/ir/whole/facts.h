/*
 * facts.h - what branches reveal about values, so that infeasible paths are not followed.
 *
 * A thread that is started under a condition is joined under the same condition, and a lock taken under one
 * is released under it. An analysis that merges both paths at the end of the first `if` sees a thread that
 * may never be joined. So each path records which of the values tested by several branches are known, and a
 * branch whose outcome follows is taken in one direction only (ESP: Das, Lerner, Seigle, PLDI 2002).
 *
 * Facts are about values in registers, which do not change until they are recomputed, so no assumption is
 * needed.
 */
#ifndef DH_IR_WHOLE_FACTS_H
#define DH_IR_WHOLE_FACTS_H

#include "ir/whole/model.h"

enum dh_w_fact_kind { DH_W_FACT_NONE, DH_W_FACT_IS, DH_W_FACT_IS_NOT };
struct dh_w_fact {
    int64_t value;
    u32 kind; /* enum dh_w_fact_kind */
    u32 zero;
};

struct dh_w_facts; /* of a function */

/* NULL: no two branches of it test values that have to do with each other, or it is too large. */
struct dh_w_facts *dh_w_facts_new(const struct dh_w_fn *fn);
void dh_w_facts_free(struct dh_w_facts *facts);
size_t dh_w_facts_count(const struct dh_w_facts *facts);
/* A block begins: what it computes is no longer known. */
void dh_w_facts_enter(const struct dh_w_facts *facts, struct dh_w_fact *known, u32 block);
/* From the end of a block to its i-th successor. false: no execution does. */
bool dh_w_facts_along(const struct dh_w_facts *facts, struct dh_w_fact *known, u32 block, u32 i);
/* Whether a value is one constant here and another one there: then the two ways are worth keeping apart. */
bool dh_w_facts_differ(size_t n, const struct dh_w_fact *a, const struct dh_w_fact *b);
/* What is known on both ways. true: *to changed. */
bool dh_w_facts_meet(size_t n, struct dh_w_fact *to, const struct dh_w_fact *from);

#endif
