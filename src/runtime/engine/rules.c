/*
 * rules.c - see rules.h.
 */
#include "runtime/engine/rules.h"

#include <string.h>
#include <time.h>

#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/own.h"
#include "runtime/init.h"

bool dh_rules_on;
static u64 ended[DH_RULES]; /* of threads that have ended; under dh_threads_lock */
/* For counters that are kept elsewhere: their values when this process began. */
static u64 began_ms, made_before, found_before;

/* Determined afterwards, from what is there now: that costs quick.c nothing, and it has rarely been changed
 * by another thread meanwhile. Where it has, that is often the very reason. */
static enum dh_counter why(struct dh_thread *t, uptr addr, u32 size)
{
    dh_cell_t first = DH_CELL_NONE;
    bool even = true, usual = true;
    for (uptr word = addr & ~(uptr)3; word < addr + size; word += 4) {
        for (int plane = DH_PLANE_READ; plane <= DH_PLANE_WRITE; plane++) {
            dh_cell_t cell = dh_cell_load(dh_shadow(word, (enum dh_plane)plane));
            if (dh_cell_is_split(cell))
                return DH_COUNT_MISS_SPLIT;
            if (dh_cell_is_history(cell))
                return DH_COUNT_MISS_HISTORY;
            usual = usual && dh_own_before(t, cell); /* which quick.c can handle */
            if (plane == DH_PLANE_WRITE) {
                even = even && (word < addr + 4 || dh_cell_eq(cell, first));
                first = cell;
            }
        }
    }
    return !usual ? DH_COUNT_MISS_UNORDERED : !even ? DH_COUNT_MISS_UNEVEN : DH_COUNT_MISS_OTHER;
}

DH_COLD void dh_rules_miss(struct dh_thread *t, uptr addr, u32 size, u32 kind)
{
    (void)kind;
    if (!dh_runtime_off)
        dh_rule(t, why(t, addr, size));
}

DH_COLD void dh_rules_put(const struct dh_access_now *a, dh_cell_t old, dh_cell_t cell)
{
    if (a->kind & DH_ATOMIC)
        return; /* counted as such */
    if (a->kind & DH_WRITE)
        dh_rule(a->t, DH_COUNT_WRITE_EXCLUSIVE);
    else if (dh_cell_eq(cell, old) && dh_cell_is_history(cell))
        dh_rule(a->t, DH_COUNT_READ_SHARED);
    else if (dh_cell_is_history(cell))
        dh_rule(a->t, dh_cell_is_history(old) ? DH_COUNT_READ_SHARED : DH_COUNT_READ_SHARE);
    else
        dh_rule(a->t, DH_COUNT_READ_EXCLUSIVE);
}

void dh_rules_give(const struct dh_thread *t)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    for (u32 i = 0; dh_rules_on && i < DH_RULES; i++)
        ended[i] += t->rules[i];
}

static u64 now_ms(void)
{
    struct timespec now = {0};
    dh_sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

static void begin(void)
{
    began_ms = now_ms();
    dh_history_counts(&made_before, &found_before);
}

void dh_rules_init(bool on)
{
    dh_rules_on = on;
    if (on)
        begin();
}

/* Counters not kept per thread. False: c is not one of them. */
static bool kept_elsewhere(enum dh_counter c, u64 *ret)
{
    u64 made, found;
    if (c != DH_COUNT_MILLISECONDS && c != DH_COUNT_HISTORY_MADE && c != DH_COUNT_HISTORY_HIT)
        return false;
    dh_history_counts(&made, &found);
    *ret = c == DH_COUNT_MILLISECONDS   ? now_ms() - began_ms
           : c == DH_COUNT_HISTORY_MADE ? made - made_before
                                        : found - found_before;
    return true;
}

u64 dh_rules_total(enum dh_counter c)
{
    u64 elsewhere;
    if (!dh_rules_on || kept_elsewhere(c, &elsewhere))
        return dh_rules_on ? elsewhere : 0;
    u32 i = (u32)c - DH_RULES_FIRST;
    dh_lock_take(&dh_threads_lock);
    u64 sum = ended[i];
    for (const struct dh_thread *t = dh_threads; t; t = t->next)
        if (t->state != DH_THREAD_FINISHED) /* finished ones have handed theirs over */
            sum += __atomic_load_n(&t->rules[i], __ATOMIC_RELAXED);
    dh_lock_drop(&dh_threads_lock);
    return sum;
}

void dh_rules_fork_child(void)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    if (dh_rules_on)
        begin();
    memset(ended, 0, sizeof(ended));
    for (struct dh_thread *t = dh_threads; t; t = t->next)
        memset(t->rules, 0, sizeof(t->rules));
}
