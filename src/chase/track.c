/*
 * track.c - see track.h.
 */
#include "chase/track.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = (1 << 17) - 1 };

/* Windows are numbered from 1, by the generation of their state. */
static u32 number_of(const struct dh_chase_target *t)
{
    return dh_chase_target_state(t) / (DH_CONTROL_PHASE + 1) % NUMBERS + 1;
}

static void set_tracking(struct dh_chase_target *t, u32 number)
{
    __atomic_store_n(&t->control->tracking, number, __ATOMIC_RELEASE);
}

void dh_chase_track_start(const struct dh_chase_track *k, struct dh_chase_target *t)
{
    if (k->analysis == DH_CHASE_FULLHB)
        set_tracking(t, 1);
}

u8 dh_chase_track_standing(const struct dh_chase_track *k)
{
    return k->analysis == DH_CHASE_FULLHB ? DH_CONTROL_ATOMIC : 0;
}

void dh_chase_track_begin(struct dh_chase_track *k, struct dh_chase_target *t, u64 now)
{
    k->first = dh_chase_moment_begin(t, false);
    k->until = now + k->window_us;
    __atomic_store_n(&t->control->n_members, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->control->lost, 0, __ATOMIC_SEQ_CST);
    if (dh_chase_target_is_cleared(t)) /* since the atomics were armed */
        __atomic_store_n(&t->control->lost, 1, __ATOMIC_SEQ_CST);
    if (k->analysis == DH_CHASE_LITEHB)
        set_tracking(t, number_of(t));
}

static bool is_member(const struct dh_control *c, u32 tid)
{
    u32 n = __atomic_load_n(&c->n_members, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < n && i < DH_CONTROL_MEMBERS; i++)
        if (__atomic_load_n(&c->members[i], __ATOMIC_ACQUIRE) == tid)
            return true;
    return false;
}

/* Threads that begin later are created by one of these. */
static bool are_all_members(const struct dh_chase_target *t)
{
    char path[64];
    bool all = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && all && (e = readdir(dir));)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
            all = is_member(t->control, (u32)atoi(e->d_name));
    if (dir)
        closedir(dir);
    return dir && all;
}

bool dh_chase_track_is_over(const struct dh_chase_track *k, const struct dh_chase_target *t, u64 now)
{
    return now >= k->until || __atomic_load_n(&t->control->lost, __ATOMIC_ACQUIRE) ||
           (k->analysis == DH_CHASE_LITEHB && are_all_members(t));
}

struct dh_chase_moment *dh_chase_track_take(struct dh_chase_track *k)
{
    struct dh_chase_moment *m = k->first;
    k->first = NULL;
    return m;
}

void dh_chase_track_end(struct dh_chase_track *k, struct dh_chase_target *t)
{
    if (k->analysis == DH_CHASE_LITEHB)
        set_tracking(t, 0);
    dh_chase_moment_free(k->first);
    k->first = NULL;
}

const char *dh_chase_track_trouble(const struct dh_chase_target *t)
{
    return __atomic_load_n(&t->control->overflow, __ATOMIC_ACQUIRE)
               ? "the program has more threads, or more locks and atomics, than can be followed"
               : NULL;
}
