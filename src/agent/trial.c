/*
 * trial.c - see trial.h. For a bundle, which of its accesses came to the same bytes; for a candidate, the
 * race.
 */
#include "agent/trial.h"

static void add_meeting(struct dh_agent_trial *t, u32 a, u32 b, u8 seen)
{
    const struct dh_pairs *p = t->w->build->table;
    if (a == DH_PAIRS_NONE || b == DH_PAIRS_NONE)
        return;
    if (seen & DH_CONTROL_SEEN_SAME && !t->met_us)
        t->met_us = dh_chase_now_us();
    for (size_t i = 0; i < t->n_met; i++)
        if (t->met[i].sites[0] == p->sites[a].id && t->met[i].sites[1] == p->sites[b].id) {
            t->met[i].seen |= seen;
            return;
        }
    if (t->n_met == DH_AGENT_MOST_MET)
        return;
    t->met = dh_util_grow(t->met, t->n_met, &t->cap_met, sizeof(*t->met));
    t->met[t->n_met++] = (struct dh_agent_met){{p->sites[a].id, p->sites[b].id}, seen};
}

/* Which access of the table an instruction of the program belongs to. */
static u32 site_of(const struct dh_agent_trial *t, u32 number, int side)
{
    const struct dh_chase_site *site = number < DH_CONTROL_SITES ? t->w->target.sites[number] : NULL;
    if (!site || site < t->sides.sites.at || site >= t->sides.sites.at + t->sides.sites.n)
        return DH_PAIRS_NONE;
    return t->sides.of[side][site - t->sides.sites.at];
}

void dh_agent_trial_window(void *ctx, u32 first)
{
    struct dh_agent_trial *t = ctx;
    const struct dh_control *c = t->w->target.control;
    for (u32 i = 0; i < c->n_sites; i++) {
        u8 seen = __atomic_load_n(&c->seen[i], __ATOMIC_RELAXED);
        if (!seen)
            continue;
        t->seen |= seen;
        if (t->task.kind == DH_AGENT_INFERENCE)
            add_meeting(t, site_of(t, first, 0), site_of(t, i, 1), seen);
    }
    dh_chase_target_unsee(&t->w->target);
}

bool dh_agent_trial_race(void *ctx, struct dh_chase_moment *moment)
{
    struct dh_agent_trial *t = ctx;
    struct dh_chase_place places[2];
    const struct dh_control *c = t->w->target.control;
    bool race = dh_chase_moment_places(moment, &t->w->build->module, 1, places);
    for (int i = 0; race && t->task.kind == DH_AGENT_VALIDATION && i < 2; i++)
        t->n_stacks[i] = dh_chase_moment_offsets(moment, i == t->first, t->stacks[i], DH_AGENT_FRAMES);
    dh_chase_moment_free(moment);
    if (!race)
        return false;
    if (t->task.kind == DH_AGENT_INFERENCE) {
        add_meeting(t, site_of(t, c->first.site, 0), site_of(t, c->second.site, 1), DH_CONTROL_SEEN_SAME);
        return false; /* whether it is a race is up to another task */
    }
    t->raced = true;
    t->tids[0] = c->first.tid;
    t->tids[1] = c->second.tid;
    return true;
}
