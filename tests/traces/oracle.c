/*
 * oracle.c - see oracle.h.
 */
#include "traces/oracle.h"

#include <stdlib.h>
#include <string.h>

static bool is_access(const struct dh_event *e)
{
    return e->op == DH_OP_READ || e->op == DH_OP_WRITE;
}

/* Rounds of barriers: everyone who entered leaves before the same thread enters the next but one. */
static u32 *number_rounds(const struct kit_trace *t)
{
    u32 *round = kit_alloc(t->n * sizeof(*round));
    u32 *entered = kit_alloc(t->locks * sizeof(u32)), *left = kit_alloc(t->locks * sizeof(u32));
    u32 *leaving = kit_alloc(t->locks * sizeof(u32));
    for (u32 i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->events[i];
        if (e->op == DH_OP_BARRIER_ENTER) {
            round[i] = leaving[e->target] + 1;
            entered[e->target]++;
        } else if (e->op == DH_OP_BARRIER_LEAVE) {
            if (left[e->target] == 0) {
                leaving[e->target]++;
                left[e->target] = entered[e->target];
                entered[e->target] = 0;
            }
            round[i] = leaving[e->target];
            left[e->target]--;
        }
    }
    free(entered);
    free(left);
    free(leaving);
    return round;
}

/* Is there an edge from event i to the later event j, other than from a write to its reads? */
static bool edge(const struct oracle *o, const u32 *round, u32 i, u32 j)
{
    const struct dh_event *a = &o->t->events[i], *b = &o->t->events[j];
    bool same = a->target == b->target;
    if (a->thread == b->thread)
        return true;
    if (a->op == DH_OP_FORK && (a->target == b->thread || (b->op == DH_OP_JOIN && same)))
        return true;
    if (b->op == DH_OP_JOIN && b->target == a->thread)
        return true;
    if (a->op == DH_OP_VOLATILE && b->op == DH_OP_VOLATILE)
        return same && a->mode == DH_WRITE && b->mode == DH_READ;
    if (a->op == DH_OP_BARRIER_ENTER && b->op == DH_OP_BARRIER_LEAVE)
        return same && round[i] == round[j];
    if (a->op == DH_OP_NOTIFY && b->op == DH_OP_WAIT)
        return same && o->relation == ORACLE_RELAXED;
    return a->op == DH_OP_RELEASE && b->op == DH_OP_ACQUIRE && same && o->relation != ORACLE_RELAXED &&
           !(a->mode == DH_SHARED && b->mode == DH_SHARED);
}

static void unite(const struct oracle *o, u64 *row, u32 i)
{
    const u64 *other = o->before + (size_t)i * o->words;
    for (u32 w = 0; w < o->words; w++)
        row[w] |= other[w];
    row[i / 64] |= 1ull << (i % 64);
}

void oracle_init(struct oracle *o, const struct kit_trace *t, enum oracle_relation relation)
{
    *o = (struct oracle){.t = t, .relation = relation, .words = t->n / 64 + 1};
    size_t size = (size_t)t->n * o->words * sizeof(u64);
    u32 *round = number_rounds(t);
    u32 *last_write = kit_alloc(t->cells * sizeof(*last_write)); /* event + 1 */
    o->before = kit_alloc(size);
    o->direct = relation == ORACLE_SHB ? kit_alloc(size) : o->before;
    for (u32 j = 0; j < t->n; j++) {
        const struct dh_event *e = &t->events[j];
        u64 *row = o->before + (size_t)j * o->words;
        for (u32 i = 0; i < j; i++) {
            if (!(row[i / 64] >> (i % 64) & 1) && edge(o, round, i, j))
                unite(o, row, i);
        }
        if (relation == ORACLE_SHB) {
            memcpy(o->direct + (size_t)j * o->words, row, o->words * sizeof(*row));
            if (e->op == DH_OP_READ && last_write[e->target])
                unite(o, row, last_write[e->target] - 1);
        }
        if (e->op == DH_OP_WRITE)
            last_write[e->target] = j + 1;
    }
    free(last_write);
    free(round);
}

void oracle_done(struct oracle *o)
{
    if (o->direct != o->before)
        free(o->direct);
    free(o->before);
}

static bool conflict(const struct dh_event *a, const struct dh_event *b)
{
    return is_access(a) && is_access(b) && a->target == b->target && a->thread != b->thread &&
           (a->op == DH_OP_WRITE || b->op == DH_OP_WRITE) && !(a->mode & b->mode & DH_ATOMIC);
}

bool oracle_races(const struct oracle *o, u32 i, u32 j)
{
    return conflict(&o->t->events[i], &o->t->events[j]) &&
           !(o->direct[(size_t)j * o->words + i / 64] >> (i % 64) & 1);
}

struct kit_said oracle_said(const struct oracle *o, u32 *ret_pairs)
{
    struct kit_said s = kit_said_new(o->t);
    u32 pairs = 0;
    for (u32 j = 0; j < o->t->n; j++) {
        if (!is_access(&o->t->events[j]))
            continue;
        for (u32 i = 0; i < j; i++) {
            if (oracle_races(o, i, j)) {
                pairs++;
                kit_said_add(&s, o->t, j);
            }
        }
    }
    if (ret_pairs)
        *ret_pairs = pairs;
    return s;
}

/* Per event, the locks that protect it, as bits: for a write those held exclusively. At most 64 locks. */
static u64 *locks_held(const struct kit_trace *t)
{
    u64 *held = kit_alloc(t->n * sizeof(*held));
    u64 *any = kit_alloc(t->threads * sizeof(*any)), *exclusive = kit_alloc(t->threads * sizeof(*exclusive));
    for (u32 i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->events[i];
        u64 bit = 1ull << (e->target % 64);
        if (e->op == DH_OP_ACQUIRE) {
            any[e->thread] |= bit;
            if (e->mode == DH_EXCLUSIVE)
                exclusive[e->thread] |= bit;
        } else if (e->op == DH_OP_RELEASE) {
            any[e->thread] &= ~bit;
            exclusive[e->thread] &= ~bit;
        }
        held[i] = e->op == DH_OP_WRITE ? exclusive[e->thread] : any[e->thread];
    }
    free(any);
    free(exclusive);
    return held;
}

struct kit_said oracle_hybrid(const struct kit_trace *t)
{
    struct oracle o;
    struct kit_said s = kit_said_new(t);
    u64 *held = locks_held(t);
    oracle_init(&o, t, ORACLE_RELAXED);
    for (u32 j = 0; j < t->n; j++) {
        for (u32 i = 0; i < j; i++) {
            if (oracle_races(&o, i, j) && !(held[i] & held[j]))
                kit_said_add(&s, t, j);
        }
    }
    oracle_done(&o);
    free(held);
    return s;
}
