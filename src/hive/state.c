/*
 * state.c - see state.h: the building blocks of apply.c, and look-ups.
 *
 * Invariants: a slot is in its build's `open` if and only if its unit has no race and the build is not
 * forgotten, and in one list of `idle` if and only if something of the unit is left to try, no task of it is
 * active and the build is not forgotten. A user's `task` is active and its own.
 */
#include "hive/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/state_impl.h"

void dh_hive_state_init(struct dh_hive_state *s)
{
    *s = (struct dh_hive_state){0};
    dh_map_init(&s->program_by_name, &s->arena);
    dh_map_init(&s->build_by_id, &s->arena);
    dh_map_init(&s->user_by_hash, &s->arena);
    dh_map_init(&s->results, &s->arena);
    dh_map_init(&s->runs, &s->arena);
    dh_map_init(&s->tried, &s->arena);
}

void dh_hive_state_done(struct dh_hive_state *s)
{
    for (size_t i = 0; i < s->n_programs; i++) {
        free(s->programs[i].keys);
        free(s->programs[i].builds);
        dh_map_done(&s->programs[i].units);
        dh_map_done(&s->programs[i].sites);
    }
    for (size_t i = 0; i < s->n_builds; i++) {
        dh_hive_source_free(s->builds[i].source);
        dh_hive_symbols_free(s->builds[i].symbols);
        dh_pairs_free(s->builds[i].table);
        free(s->builds[i].slots);
        free(s->builds[i].open);
        for (int hope = 0; hope < DH_HIVE_HOPES; hope++)
            free(s->builds[i].idle[hope]);
        free(s->builds[i].queue);
    }
    for (size_t i = 0; i < s->n_units; i++) {
        free(s->units[i].records);
        free(s->units[i].in);
        for (int order = 0; order < DH_HIVE_ORDERS; order++)
            free(s->units[i].stacks[order]);
    }
    free(s->programs);
    free(s->builds);
    free(s->units);
    free(s->sites);
    free(s->users);
    free(s->tasks);
    dh_map_done(&s->program_by_name);
    dh_map_done(&s->build_by_id);
    dh_map_done(&s->user_by_hash);
    dh_map_done(&s->results);
    dh_map_done(&s->runs);
    dh_map_done(&s->tried);
    dh_arena_done(&s->arena);
}

/* ---- Look-ups ---- */

static u32 index_in(const struct dh_map *m, const void *key, size_t len)
{
    void *found = dh_map_get(m, key, len);
    return found ? (u32)((uintptr_t)found - 1) : DH_HIVE_NONE;
}

void dh_hive_index_put(struct dh_map *m, const void *key, size_t len, u32 index)
{
    dh_map_put(m, key, len, (void *)((uintptr_t)index + 1));
}

u32 dh_hive_find_program(const struct dh_hive_state *s, const char *name)
{
    return index_in(&s->program_by_name, name, strlen(name));
}

u32 dh_hive_find_build(const struct dh_hive_state *s, const char *id)
{
    return index_in(&s->build_by_id, id, strlen(id));
}

u32 dh_hive_find_user(const struct dh_hive_state *s, const char *hash)
{
    return index_in(&s->user_by_hash, hash, strlen(hash));
}

u32 dh_hive_find_unit(const struct dh_hive_state *s, u32 program, u64 id)
{
    return index_in(&s->programs[program].units, &id, sizeof(id));
}

u32 dh_hive_find_slot(const struct dh_hive_state *s, u32 build, u32 unit)
{
    const struct dh_hive_unit *u = &s->units[unit];
    for (size_t i = 0; i < u->n_in; i++)
        if (u->in[i].build == build)
            return u->in[i].slot;
    return DH_HIVE_NONE;
}

struct dh_hive_tried *dh_hive_tried(const struct dh_hive_state *s, u32 user, u32 unit)
{
    const u32 key[3] = {user, unit, s->units[unit].life};
    return dh_map_get(&s->tried, key, sizeof(key));
}

struct dh_hive_tried *dh_hive_tried_new(struct dh_hive_state *s, u32 user, u32 unit)
{
    const u32 key[3] = {user, unit, s->units[unit].life};
    struct dh_hive_tried *t = dh_map_get(&s->tried, key, sizeof(key));
    if (!t) {
        t = dh_arena_alloc(&s->arena, sizeof(*t));
        dh_map_put(&s->tried, key, sizeof(key), t);
    }
    return t;
}

/* ---- What to expect ---- */

enum {
    MISSES = 3, /* an access that this many results, and all so far, did not reach is not executed */
    LOOKS = 3   /* a bundle examined this often has shown most of what it has */
};

static bool is_missed(const struct dh_hive_site *x)
{
    return !x->reached && x->missed >= MISSES;
}

enum dh_hive_hope dh_hive_hope_of(const struct dh_hive_state *s, const struct dh_hive_unit *u)
{
    const struct dh_hive_tally *t = &u->tally;
    const struct dh_hive_site *a = &s->sites[u->at[0]], *b = &s->sites[u->at[1]];
    u64 hope = a->reached && b->reached ? DH_HIVE_REACHED : DH_HIVE_OPEN;
    bool missed = is_missed(a) || is_missed(b);
    if (u->bundle) /* it has no verdict, only a count of looks */
        return missed || t->seen[DH_HIVE_MET] >= LOOKS ? DH_HIVE_DIM : (enum dh_hive_hope)hope;
    struct dh_hive_judgement j = dh_hive_judge(t);
    if (t->seen[DH_HIVE_MET] || j.verdict == DH_HIVE_TRUE_RACE)
        hope = DH_HIVE_CLOSE;
    else if (missed || j.verdict == DH_HIVE_LIKELY_FALSE)
        hope = DH_HIVE_DIM;
    u64 in_vain = j.verdict == DH_HIVE_TRUE_RACE ? 0 : t->no_races + t->timeouts + t->not_seen;
    return in_vain < hope ? (enum dh_hive_hope)(hope - in_vain) : DH_HIVE_DIM;
}

size_t dh_hive_idle(const struct dh_hive_build *b)
{
    size_t n = 0;
    for (int hope = 0; hope < DH_HIVE_HOPES; hope++)
        n += b->n_idle[hope];
    return n;
}

bool dh_hive_side_has(const struct dh_pairs *table, const struct dh_pairs_pair *pair, int side, u32 site)
{
    size_t n;
    const u32 *more = dh_pairs_items(table, pair->alike[side], &n);
    if (pair->side[side].site == site)
        return true;
    for (size_t i = 0; i < n; i++)
        if (more[i] == site)
            return true;
    return false;
}

bool dh_hive_bundle_has(const struct dh_pairs *table, u32 pair, u64 a, u64 b)
{
    const struct dh_pairs_pair *p = &table->pairs[pair];
    u32 x = dh_pairs_find_site(table, a), y = dh_pairs_find_site(table, b);
    if (x == DH_PAIRS_NONE || y == DH_PAIRS_NONE)
        return false;
    return (dh_hive_side_has(table, p, 0, x) && dh_hive_side_has(table, p, 1, y)) ||
           (dh_hive_side_has(table, p, 0, y) && dh_hive_side_has(table, p, 1, x));
}

u32 dh_hive_pair_with(const struct dh_pairs *table, const u64 sites[2])
{
    u32 x = dh_pairs_find_site(table, sites[0]), y = dh_pairs_find_site(table, sites[1]);
    return x == DH_PAIRS_NONE || y == DH_PAIRS_NONE ? DH_PAIRS_NONE
                                                    : dh_pairs_find_containing(table, x, y, NULL, NULL);
}

const char *dh_hive_id_text(u64 id, char to[17])
{
    snprintf(to, 17, "%016" PRIx64, id);
    return to;
}

bool dh_hive_is_hex(const char *text, size_t least, size_t most)
{
    size_t n = text ? strspn(text, "0123456789abcdef") : 0;
    return text && text[n] == 0 && n >= least && n <= most;
}

bool dh_hive_id_read(const char *text, u64 *ret)
{
    if (!dh_hive_is_hex(text, 16, 16))
        return false;
    *ret = strtoull(text, NULL, 16);
    return true;
}

/* ---- Open and idle slots ---- */

static u32 list_add(u32 **list, size_t *n, size_t *cap, u32 slot)
{
    *list = dh_util_grow(*list, *n, cap, sizeof(**list));
    (*list)[*n] = slot;
    return (u32)(*n)++;
}

static void set_open(struct dh_hive_build *b, u32 slot, bool open)
{
    struct dh_hive_slot *x = &b->slots[slot];
    if (open && x->open_at == DH_HIVE_NONE) {
        x->open_at = list_add(&b->open, &b->n_open, &b->cap_open, slot);
    } else if (!open && x->open_at != DH_HIVE_NONE) {
        u32 last = b->open[--b->n_open];
        b->open[x->open_at] = last;
        b->slots[last].open_at = x->open_at;
        x->open_at = DH_HIVE_NONE;
    }
}

static void set_idle(struct dh_hive_build *b, u32 slot, bool idle, enum dh_hive_hope hope)
{
    struct dh_hive_slot *x = &b->slots[slot];
    u32 **list = &b->idle[x->hope];
    if (x->free_at != DH_HIVE_NONE && (!idle || x->hope != hope)) {
        u32 last = (*list)[--b->n_idle[x->hope]];
        (*list)[x->free_at] = last;
        b->slots[last].free_at = x->free_at;
        x->free_at = DH_HIVE_NONE;
    }
    if (idle && x->free_at == DH_HIVE_NONE) {
        x->hope = hope;
        x->free_at = list_add(&b->idle[hope], &b->n_idle[hope], &b->cap_idle[hope], slot);
    }
}

void dh_hive_unit_settle(struct dh_hive_state *s, u32 unit)
{
    struct dh_hive_unit *u = &s->units[unit];
    enum dh_hive_wanted wanted = dh_hive_wanted(&u->tally);
    enum dh_hive_hope hope = dh_hive_hope_of(s, u);
    for (size_t i = 0; i < u->n_in; i++) {
        struct dh_hive_build *b = &s->builds[u->in[i].build];
        set_open(b, u->in[i].slot, wanted == DH_HIVE_WANT_ANY && !b->forgotten);
        set_idle(b, u->in[i].slot, wanted != DH_HIVE_WANT_NONE && !b->forgotten && !u->active, hope);
    }
}

/* ---- Sites ---- */

u32 dh_hive_site_of(struct dh_hive_state *s, u32 program, u64 id)
{
    u32 at = index_in(&s->programs[program].sites, &id, sizeof(id));
    if (at != DH_HIVE_NONE)
        return at;
    s->sites = dh_util_grow(s->sites, s->n_sites, &s->cap_sites, sizeof(*s->sites));
    s->sites[s->n_sites] = (struct dh_hive_site){.first = DH_HIVE_NONE};
    dh_hive_index_put(&s->programs[program].sites, &id, sizeof(id), (u32)s->n_sites);
    return (u32)s->n_sites++;
}

void dh_hive_site_tell(struct dh_hive_state *s, u32 site, bool reached)
{
    struct dh_hive_site *x = &s->sites[site];
    bool changes = reached ? !x->reached : !x->reached && x->missed + 1 == MISSES;
    x->reached += reached;
    x->missed += !reached;
    for (u32 at = changes ? x->first : DH_HIVE_NONE; at != DH_HIVE_NONE; at = s->units[at / 2].next[at % 2])
        dh_hive_unit_settle(s, at / 2);
}

void dh_hive_site_lacks(struct dh_hive_state *s, u32 site)
{
    do
        dh_hive_site_tell(s, site, false);
    while (s->sites[site].missed < MISSES);
}

/* ---- Units ---- */

u32 dh_hive_unit_new(struct dh_hive_state *s, u32 program, u64 pair, u64 evidence, bool bundle,
                     const u64 sites[2], u32 parent)
{
    u32 at = (u32)s->n_units, older = dh_hive_find_unit(s, program, pair);
    u64 id = dh_hive_carry_id(s, program, pair, evidence);
    s->units = dh_util_grow(s->units, s->n_units, &s->cap_units, sizeof(*s->units));
    struct dh_hive_unit *u = &s->units[s->n_units++];
    *u = (struct dh_hive_unit){.id = id,
                               .pair = pair,
                               .evidence = evidence,
                               .newer = DH_HIVE_NONE,
                               .program = program,
                               .bundle = bundle,
                               .sites = {sites[0], sites[1]},
                               .next = {DH_HIVE_NONE, DH_HIVE_NONE},
                               .parent = parent,
                               .tally = {.symmetric = !bundle && sites[0] == sites[1]},
                               .tasks = DH_HIVE_NONE};
    for (u32 side = 0; side < 2; side++) {
        u->at[side] = dh_hive_site_of(s, program, sites[side]);
        if (side && u->at[0] == u->at[1])
            break;
        u->next[side] = s->sites[u->at[side]].first;
        s->sites[u->at[side]].first = at * 2 + side;
    }
    dh_hive_index_put(&s->programs[program].units, &id, sizeof(id), at);
    while (older != DH_HIVE_NONE && s->units[older].newer != DH_HIVE_NONE)
        older = s->units[older].newer;
    if (older != DH_HIVE_NONE)
        s->units[older].newer = at;
    return at;
}

void dh_hive_unit_join(struct dh_hive_state *s, u32 unit, u32 build, u32 pair)
{
    struct dh_hive_build *b = &s->builds[build];
    struct dh_hive_unit *u = &s->units[unit];
    b->slots = dh_util_grow(b->slots, b->n_slots, &b->cap_slots, sizeof(*b->slots));
    b->slots[b->n_slots] =
        (struct dh_hive_slot){.unit = unit, .pair = pair, .open_at = DH_HIVE_NONE, .free_at = DH_HIVE_NONE};
    u->in = dh_util_grow(u->in, u->n_in, &u->cap_in, sizeof(*u->in));
    u->in[u->n_in++] = (struct dh_hive_membership){build, (u32)b->n_slots++};
    dh_hive_unit_settle(s, unit);
}

/* ---- Tasks ---- */

u32 dh_hive_task_new(struct dh_hive_state *s, const struct dh_hive_task *t, u64 seq)
{
    u32 at = (u32)s->n_tasks;
    struct dh_hive_unit *u = &s->units[t->unit];
    struct dh_hive_build *b = &s->builds[t->build];
    s->tasks = dh_util_grow(s->tasks, s->n_tasks, &s->cap_tasks, sizeof(*s->tasks));
    s->tasks[s->n_tasks] = *t;
    s->tasks[s->n_tasks].prev = DH_HIVE_NONE;
    s->tasks[s->n_tasks++].next = u->tasks;
    if (u->tasks != DH_HIVE_NONE)
        s->tasks[u->tasks].prev = at;
    u->tasks = at;
    u->active++;
    u->tried[t->order]++;
    s->users[t->user].task = at;
    s->users[t->user].changed = seq;
    b->queue = dh_util_grow(b->queue, b->n_queue, &b->cap_queue, sizeof(*b->queue));
    b->queue[b->n_queue++] = (struct dh_hive_waiting){at, t->given_us};
    dh_hive_unit_settle(s, t->unit);
    return at;
}

void dh_hive_task_end(struct dh_hive_state *s, u32 task, enum dh_hive_task_state state, u64 seq)
{
    struct dh_hive_task *t = &s->tasks[task];
    struct dh_hive_unit *u = &s->units[t->unit];
    struct dh_hive_user *who = &s->users[t->user];
    if (t->state != DH_HIVE_ACTIVE) {
        t->state = (u8)state; /* what was under way when it was withdrawn has come in */
        return;
    }
    t->state = (u8)state;
    if (t->prev != DH_HIVE_NONE)
        s->tasks[t->prev].next = t->next;
    else
        u->tasks = t->next;
    if (t->next != DH_HIVE_NONE)
        s->tasks[t->next].prev = t->prev;
    u->active--;
    if (who->task == task) {
        who->task = DH_HIVE_NONE;
        who->changed = seq;
    }
    dh_hive_unit_settle(s, t->unit);
}

void dh_hive_unit_withdraw(struct dh_hive_state *s, u32 unit, u64 seq)
{
    while (s->units[unit].tasks != DH_HIVE_NONE)
        dh_hive_task_end(s, s->units[unit].tasks, DH_HIVE_WITHDRAWN, seq);
}

void dh_hive_queue_requeue(struct dh_hive_state *s, u32 build, u32 task, u64 now_us)
{
    struct dh_hive_build *b = &s->builds[build];
    size_t at = b->queue_head;
    while (at < b->n_queue && b->queue[at].task != task)
        at++;
    if (at == b->n_queue)
        return;
    b->queue[at].task = DH_HIVE_NONE;
    b->queue = dh_util_grow(b->queue, b->n_queue, &b->cap_queue, sizeof(*b->queue));
    b->queue[b->n_queue++] = (struct dh_hive_waiting){task, now_us};
}

static bool is_waiting(const struct dh_hive_state *s, const struct dh_hive_waiting *w)
{
    return w->task != DH_HIVE_NONE && s->tasks[w->task].state == DH_HIVE_ACTIVE;
}

/* Behind a task that never ends there may be any number that have. They are removed whenever the queue has
 * become twice as long as after the last time. */
void dh_hive_queue_trim(struct dh_hive_state *s, u32 build)
{
    enum { SHORT = 1024 };
    struct dh_hive_build *b = &s->builds[build];
    size_t n = 0;
    while (b->queue_head < b->n_queue && !is_waiting(s, &b->queue[b->queue_head]))
        b->queue_head++;
    if (b->n_queue < SHORT || b->n_queue < b->queue_most)
        return;
    for (size_t i = b->queue_head; i < b->n_queue; i++)
        if (is_waiting(s, &b->queue[i]))
            b->queue[n++] = b->queue[i];
    b->queue_head = 0;
    b->n_queue = n;
    b->queue_most = 2 * n;
}
