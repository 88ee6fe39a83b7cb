/*
 * trial.c - see trial.h. For a bundle, which of its accesses, and which others, came to the same bytes; for a
 * candidate, the race.
 */
#include "agent/trial.h"

/* NULL, or the entry for these two accesses. */
static struct dh_agent_met *add_meeting(struct dh_agent_trial *t, u32 a, u32 b, u8 seen)
{
    const struct dh_pairs *p = t->w->build->table;
    if (a == DH_PAIRS_NONE || b == DH_PAIRS_NONE)
        return NULL;
    if (seen & DH_CONTROL_SEEN_SAME && !t->met_us)
        t->met_us = dh_chase_now_us();
    for (size_t i = 0; i < t->n_met; i++)
        if (t->met[i].sites[0] == p->sites[a].id && t->met[i].sites[1] == p->sites[b].id) {
            t->met[i].seen |= seen;
            return &t->met[i];
        }
    if (t->n_met == DH_AGENT_MOST_MET)
        return NULL;
    t->met = dh_util_grow(t->met, t->n_met, &t->cap_met, sizeof(*t->met));
    t->met[t->n_met] = (struct dh_agent_met){.sites = {p->sites[a].id, p->sites[b].id}, .seen = seen};
    return &t->met[t->n_met++];
}

/* Which access of the table an instruction of the program belongs to. */
static u32 site_of(const struct dh_agent_trial *t, u32 number, int side)
{
    const struct dh_agent_sides *sides = t->part == DH_AGENT_WATCH ? &t->watched : &t->sides;
    const struct dh_chase_site *site = number < DH_CONTROL_SITES ? t->w->target.sites[number] : NULL;
    if (!site || site < sides->sites.at || site >= sides->sites.at + sides->sites.n)
        return DH_PAIRS_NONE;
    return sides->of[side][site - sides->sites.at];
}

/* A thread was stopped at this instruction. */
static void add_reached(struct dh_agent_trial *t, u32 number)
{
    u32 site = site_of(t, number, 0);
    const u64 id = site == DH_PAIRS_NONE ? 0 : t->w->build->table->sites[site].id;
    for (size_t i = 0; i < t->n_reached; i++)
        if (t->reached_sites[i] == id)
            return;
    if (id && t->n_reached < DH_AGENT_MOST_REACHED)
        t->reached_sites[t->n_reached++] = id;
}

void dh_agent_trial_window(void *ctx, u32 first)
{
    struct dh_agent_trial *t = ctx;
    const struct dh_control *c = t->w->target.control;
    if (t->task.kind == DH_AGENT_INFERENCE)
        add_reached(t, first);
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
    if (t->part == DH_AGENT_WATCH) { /* dh_agent_trial_met has seen it */
        dh_chase_moment_free(moment);
        return false;
    }
    bool race = dh_chase_moment_places(moment, &t->w->build->module, 1, places);
    for (int i = 0; race && t->task.kind == DH_AGENT_VALIDATION && i < 2; i++)
        t->n_stacks[i] = dh_chase_moment_offsets(moment, i == t->first, t->stacks[i], DH_AGENT_FRAMES);
    dh_chase_moment_tids(moment, t->tids);
    dh_chase_moment_free(moment);
    if (!race)
        return false;
    if (t->task.kind == DH_AGENT_INFERENCE) {
        add_meeting(t, site_of(t, c->first.site, 0), site_of(t, c->second.site, 1), DH_CONTROL_SEEN_SAME);
        return false; /* whether it is a race is up to another task */
    }
    t->raced = true;
    return true;
}

size_t dh_agent_trial_known(void *ctx, u32 site, bool at_once, u64 *ret_pcs, size_t n)
{
    const struct dh_agent_trial *t = ctx;
    size_t found = 0;
    for (size_t i = 0; i < t->n_known && found < n; i++)
        if (t->known[i].site == site && t->known[i].at_once >= at_once)
            ret_pcs[found++] = t->known[i].pc;
    return found;
}

/* Both threads are stopped, one before its access at `waiting` and one after that at `other`: the two race,
 * and the other's was made first. */
static void add_race(struct dh_agent_trial *t, struct dh_chase_moment *moment, u32 waiting, u32 other)
{
    struct dh_agent_met *met = add_meeting(t, other, waiting, DH_CONTROL_SEEN_SAME);
    if (!met || met->raced)
        return;
    struct dh_agent_stacks *stacks = dh_arena_alloc(&t->arena, sizeof(*stacks));
    for (int waited = 0; waited < 2; waited++)
        stacks->n[waited] = dh_chase_moment_offsets(moment, waited, stacks->at[waited], DH_AGENT_FRAMES);
    met->raced = stacks;
}

/* On which sides of the task is this instruction of the program? */
static u8 sides_of(const struct dh_agent_trial *t, u32 number)
{
    const struct dh_chase_site *at = number < DH_CONTROL_SITES ? t->w->target.sites[number] : NULL;
    for (size_t i = 0; at && i < t->sides.sites.n; i++)
        if (t->sides.sites.at[i].access == at->access)
            return t->sides.sites.at[i].sides;
    return 0;
}

/* The instruction that ends at pc. */
static u32 number_before(const struct dh_control *c, u64 pc)
{
    for (u32 i = 0; i < c->n_sites; i++)
        if (c->sites[i].pc + c->sites[i].length == pc)
            return i;
    return DH_CONTROL_NOWHERE;
}

/* A validation: which access of the pair was made while a thread waited at the other? If it may be either,
 * the one that should come first. -1: neither. */
static int made_first(const struct dh_agent_trial *t, u8 waiting, u8 made)
{
    const int wanted = t->task.alternate ? 1 : 0;
    const bool can[2] = {made & (t->first ? DH_CONTROL_SECOND : DH_CONTROL_FIRST) &&
                             waiting & (t->first ? DH_CONTROL_FIRST : DH_CONTROL_SECOND),
                         made & (t->first ? DH_CONTROL_FIRST : DH_CONTROL_SECOND) &&
                             waiting & (t->first ? DH_CONTROL_SECOND : DH_CONTROL_FIRST)};
    return can[wanted] ? wanted : can[1 - wanted] ? 1 - wanted : -1;
}

static void race_pair(struct dh_agent_trial *t, u32 site, u64 pc, struct dh_chase_moment *moment)
{
    const u32 made = number_before(t->w->target.control, pc);
    const int first = made_first(t, sides_of(t, site), sides_of(t, made));
    struct dh_chase_place places[2];
    if (first < 0 || !dh_chase_moment_places(moment, &t->w->build->module, 1, places))
        return;
    for (int i = 0; i < 2; i++)
        t->n_stacks[i] = dh_chase_moment_offsets(moment, i != first, t->stacks[i], DH_AGENT_FRAMES);
    t->raced = true;
    t->task.alternate = first == 1; /* the other order may be the one that was asked for */
    dh_chase_moment_tids(moment, t->tids);
}

/* Anything may have accessed the bytes, so its site is looked up by its place in the source. If the place is
 * not exact, the accesses have raced, but perhaps not these two: such a meeting is left to a validation. So
 * is one with the code that a line calls. */
void dh_agent_trial_met(void *ctx, u32 site, u64 pc, struct dh_chase_moment *moment, bool at_once)
{
    struct dh_agent_trial *t = ctx;
    struct dh_chase_place places[2];
    if (t->task.kind == DH_AGENT_VALIDATION) {
        race_pair(t, site, pc, moment);
        return;
    }
    const u32 waiting = site_of(t, site, 0);
    const size_t before = t->n_met;
    bool exact;
    if (t->n_known < DH_AGENT_MOST_KNOWN)
        t->known[t->n_known++] = (struct dh_agent_known){pc, site, at_once};
    add_reached(t, site);
    if (waiting == DH_PAIRS_NONE || t->n_watched == DH_AGENT_MOST_WATCHED ||
        !dh_chase_moment_places(moment, &t->w->build->module, 1, places) || !places[1].file)
        return;
    const u32 other = dh_agent_build_other_at(t->w->build, waiting, &places[1], &exact);
    if (at_once && exact && !places[1].outside)
        add_race(t, moment, waiting, other);
    else
        add_meeting(t, waiting, other, DH_CONTROL_SEEN_SAME);
    t->n_watched += t->n_met - before;
}
