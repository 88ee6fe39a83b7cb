/*
 * state.h - everything a hive knows, in memory: a fold over the log of events.
 *
 * dh_hive_apply is the only way to change it; it does no input or output, and uses neither the clock nor
 * randomness: the same events give the same state. In memory, things are identified by their index in one of
 * the arrays, which never changes; in events and in the interface, by their ids.
 *
 * Threads that share a state must lock it.
 */
#ifndef DH_HIVE_STATE_H
#define DH_HIVE_STATE_H

#include <jansson.h>

#include "hive/source.h"
#include "hive/stacks.h"
#include "hive/verdict.h"
#include "report/pairs.h"
#include "store/store.h"
#include "util/map.h"

enum { DH_HIVE_NONE = UINT32_MAX, DH_HIVE_HASH = 64 }; /* no index; hexadecimal digits of a hash */

struct dh_hive_key {
    u32 number; /* of the program, from 1 */
    char hash[DH_HIVE_HASH + 1];
    bool revoked;
};

struct dh_hive_program {
    const char *name;
    struct dh_hive_key *keys;
    size_t n_keys, cap_keys;
    u32 *builds;
    size_t n_builds, cap_builds;
    struct dh_map units, sites;    /* id -> index + 1 */
    u64 runs, waited_us, timeouts; /* of all its users */
    struct dh_hive_harm harm;      /* of all its races */
};

/* A unit's place in a build. */
struct dh_hive_slot {
    u32 unit;
    u32 pair;    /* in the build's table: itself, or the bundle that it came from */
    u32 open_at; /* in the build's `open`, or DH_HIVE_NONE */
    u32 free_at; /* in the list of `idle` for its `hope` */
    u32 hope;    /* enum dh_hive_hope, if it is in one */
};

/* How promising another task of a unit is, by what is known about it. A pair that was seen to meet comes
 * before one whose accesses are only known to be executed; last comes a pair that no execution has reached
 * (RaceMob, section 3.2.1: context inference first, then validation). */
enum dh_hive_hope { DH_HIVE_DIM, DH_HIVE_OPEN, DH_HIVE_REACHED, DH_HIVE_CLOSE, DH_HIVE_HOPES };

struct dh_hive_waiting {
    u32 task; /* DH_HIVE_NONE: it was moved to the end */
    u64 since_us;
};

struct dh_hive_build {
    const char *id; /* hexadecimal */
    u32 program;
    bool forgotten;
    bool by_place; /* it was added before evidence was asked for: see carry.c */
    u8 set;        /* DH_PAIRS_RELAY or DH_PAIRS_SOUND: which pairs of the table are its units */
    u64 added_us;
    struct dh_pairs *table;
    struct dh_hive_source *source;   /* its source lines, or NULL: not uploaded */
    struct dh_hive_symbols *symbols; /* its symbols, or NULL: not uploaded */
    struct dh_hive_slot *slots;
    size_t n_slots, cap_slots;
    u32 *open; /* slots, unordered, whose units have no race yet */
    size_t n_open, cap_open;
    u32 *idle[DH_HIVE_HOPES]; /* slots, unordered: something is left to try, and no task is active */
    size_t n_idle[DH_HIVE_HOPES], cap_idle[DH_HIVE_HOPES];
    struct dh_hive_waiting *queue; /* active tasks, oldest first, to find those that take too long */
    size_t queue_head, n_queue, cap_queue;
    size_t queue_most; /* at this length, ended tasks are removed from it */
};

/* A result, as in the timeline of a unit. */
struct dh_hive_record {
    u64 seq, time_us, waited_us, run_us;
    u32 user, build, tau_us;
    u8 result, order, consequence;
};

struct dh_hive_membership {
    u32 build, slot;
};

/* An access of a program, and whether executions reach it. What is known about it applies to all units that
 * contain it. */
struct dh_hive_site {
    u64 reached, missed; /* results that say so */
    u32 first;           /* of its units: unit * 2 + side, or DH_HIVE_NONE */
};

struct dh_hive_unit {
    u64 id;       /* of the first version of a pair, the pair's; of others, another one */
    u64 pair;     /* the id in tables, which agents know */
    u64 evidence; /* of its code: carry.c */
    u32 newer;    /* the next version of the pair, or DH_HIVE_NONE */
    u32 program;
    bool bundle;
    u64 sites[2]; /* ids; of a bundle: its first ones */
    u32 at[2];    /* indices of these in the state's `sites` */
    u32 next[2];  /* further units with that site, encoded like `first` */
    u32 parent;   /* the bundle in which it was found, or DH_HIVE_NONE */
    u32 life;     /* how often it was forgotten */
    struct dh_hive_tally tally;
    u32 active; /* tasks */
    u32 tasks;  /* the first of them, or DH_HIVE_NONE */
    u32 tried[DH_HIVE_ORDERS];
    struct dh_hive_record *records;
    size_t n_records, cap_records;
    struct dh_hive_membership *in;
    size_t n_in, cap_in;
    struct dh_hive_stacks *stacks[DH_HIVE_ORDERS]; /* of the newest race in this order; NULL: none */
};

enum dh_hive_task_state {
    DH_HIVE_ACTIVE,
    DH_HIVE_FINISHED,
    DH_HIVE_WITHDRAWN, /* the race is confirmed, or forgotten */
    DH_HIVE_ABANDONED, /* the longest wait was not enough */
    DH_HIVE_RELIEVED,  /* its user had done more than a fair share */
    DH_HIVE_TASK_STATES
};

struct dh_hive_task {
    u32 user, unit, build;
    u32 tau_us;
    u32 prev, next; /* active tasks of the unit */
    u64 given_us;
    u8 order, state;
};

struct dh_hive_user {
    char hash[DH_HIVE_HASH + 1];
    u32 program, build;
    u32 task; /* active, or DH_HIVE_NONE */
    bool forgotten;
    u64 changed; /* number of the event that last changed its task */
    u64 runs, waited_us, run_us, timeouts, results;
    u64 relieved_until_us;
    u64 first_us, last_us;
};

/* What a user has tried with a unit. */
struct dh_hive_tried {
    u8 done, abandoned; /* bits: 1 << order */
    u32 timeouts;       /* of the present task */
};

struct dh_hive_state {
    struct dh_arena arena;
    u64 seq;    /* of the last event */
    u64 stored; /* events up to this one are in the log, later ones may be rolled back; set by the engine */
    u64 time_us;
    struct dh_hive_program *programs;
    struct dh_hive_build *builds;
    struct dh_hive_unit *units;
    struct dh_hive_site *sites;
    struct dh_hive_user *users;
    struct dh_hive_task *tasks;
    size_t n_programs, n_builds, n_units, n_sites, n_users, n_tasks;
    size_t cap_programs, cap_builds, cap_units, cap_sites, cap_users, cap_tasks;
    struct dh_map program_by_name, build_by_id, user_by_hash; /* -> index + 1 */
    struct dh_map results;                                    /* id -> hash of the contents, never 0 */
    struct dh_map runs;                                       /* of a unit: those without a race */
    struct dh_map tried;                                      /* user and unit -> struct dh_hive_tried */
    u64 n_results;                                            /* ever */
};

void dh_hive_state_init(struct dh_hive_state *s);
void dh_hive_state_done(struct dh_hive_state *s);

/* 0; -EBADMSG if the event cannot follow: then nothing has changed; or -EPROTONOSUPPORT if this version does
 * not know its kind. */
int dh_hive_apply(struct dh_hive_state *s, const struct dh_store_event *e);

/* Look-ups. DH_HIVE_NONE if there is none. */
u32 dh_hive_find_program(const struct dh_hive_state *s, const char *name);
u32 dh_hive_find_build(const struct dh_hive_state *s, const char *id);
u32 dh_hive_find_user(const struct dh_hive_state *s, const char *hash);
u32 dh_hive_find_unit(const struct dh_hive_state *s, u32 program, u64 id);
u32 dh_hive_find_slot(const struct dh_hive_state *s, u32 build, u32 unit);
/* NULL: nothing. */
struct dh_hive_tried *dh_hive_tried(const struct dh_hive_state *s, u32 user, u32 unit);
enum dh_hive_hope dh_hive_hope_of(const struct dh_hive_state *s, const struct dh_hive_unit *u);
/* Slots that wait for a user. */
size_t dh_hive_idle(const struct dh_hive_build *b);
/* Is (a, b), in either order, a pair of the bundle? */
bool dh_hive_bundle_has(const struct dh_pairs *table, u32 pair, u64 a, u64 b);

/* The pair or bundle of the table that contains these two sites, or DH_PAIRS_NONE. */
u32 dh_hive_pair_with(const struct dh_pairs *table, const u64 sites[2]);

/* Ids as text: 16 hexadecimal digits. */
const char *dh_hive_id_text(u64 id, char to[17]);
bool dh_hive_id_read(const char *text, u64 *ret);
/* Lower-case hexadecimal digits, at least and at most this many? */
bool dh_hive_is_hex(const char *text, size_t least, size_t most);

/* state_dump.c: everything, in an order that depends only on the events. */
json_t *dh_hive_dump(const struct dh_hive_state *s);

#endif
