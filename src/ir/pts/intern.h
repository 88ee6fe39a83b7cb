/*
 * intern.h - hash-consed sets: each distinct set is stored once and identified by a number.
 *
 * In large programs tens of thousands of nodes share a few thousand sets, and the same unions are computed
 * again and again. So sets are immutable, results of operations are cached, and a node holds two numbers.
 * (Barbar and Sui, "Hash consed points-to sets", SAS 2021.) Number 0 is the empty set.
 *
 * The hash of a set is the sum of its members' hashes, so that the hash of a disjoint union is known before
 * the union is computed, and an existing set is found without building it again.
 *
 * A number is valid until dh_intern_collect finds it unused.
 */
#ifndef DH_IR_PTS_INTERN_H
#define DH_IR_PTS_INTERN_H

#include "ir/pts/set.h"

#define DH_INTERN_FAILED UINT32_MAX

struct dh_interned {
    struct dh_set set;
    uint64_t hash;
    uint32_t count;
    bool used; /* while collecting */
};

struct dh_intern_memo {
    uint64_t key;
    uint32_t a, b, result;
};

struct dh_intern {
    struct dh_interned *at;
    uint32_t n, cap;
    uint32_t *slots; /* hash table of numbers; 0: free */
    uint32_t slots_n;
    struct dh_intern_memo *memo; /* colliding entries are overwritten */
    uint32_t memo_n;
    uint32_t *unused; /* numbers to be reused */
    uint32_t unused_n;
    uint64_t bytes;      /* of large sets */
    uint64_t collect_at; /* dh_intern_collect is worthwhile from here on */
};

int dh_intern_init(struct dh_intern *t);
void dh_intern_done(struct dh_intern *t);

static inline const struct dh_set *dh_intern_set(const struct dh_intern *t, uint32_t s)
{
    return &t->at[s].set;
}
static inline uint32_t dh_intern_count(const struct dh_intern *t, uint32_t s)
{
    return t->at[s].count;
}

/* Each returns a number, or DH_INTERN_FAILED when memory runs out. */
uint32_t dh_intern_take(struct dh_intern *t, struct dh_set *s); /* the table takes ownership of the set */
uint32_t dh_intern_add(struct dh_intern *t, uint32_t s, uint32_t x);
uint32_t dh_intern_join(struct dh_intern *t, uint32_t a, uint32_t b);
uint32_t dh_intern_minus(struct dh_intern *t, uint32_t a, uint32_t b);

/* A cache for what clients compute from sets: maps a key and a number to a number; 0 means "not known". */
uint32_t dh_intern_recall(const struct dh_intern *t, uint64_t key, uint32_t s);
void dh_intern_remember(struct dh_intern *t, uint64_t key, uint32_t s, uint32_t result);

/* Frees the sets whose `used` is false, and drops all cached results; resets `used` for all. */
void dh_intern_collect(struct dh_intern *t);

#endif
