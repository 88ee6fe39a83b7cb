/*
 * osr_search.h - does a given pair race in any reordering? Exhaustive search, within a bound. See
 * osr_search.c.
 */
#ifndef DH_DETECT_OSR_SEARCH_H
#define DH_DETECT_OSR_SEARCH_H

#include "detect/predict.h"

enum dh_osr_answer {
    DH_OSR_RACE,
    DH_OSR_NO_RACE, /* no reordering shows it */
    DH_OSR_OPEN,    /* none was found before the bound */
};

/* Steps of one search, and of all: for each event of the trace, and for short traces. */
enum { DH_OSR_SEARCH_PAIR = 1 << 16, DH_OSR_SEARCH_STEPS = 4, DH_OSR_SEARCH_SMALL = 1 << 22 };

/* How long a trace is searched from its beginning, if the part after the first reversed section was not
 * enough. */
enum { DH_OSR_SEARCH_WHOLE = 512 };

/* Open sections, each of which may be decided to end in the cut or to stay open. */
enum { DH_OSR_DECISIONS = 6 };

struct dh_osr_decision {
    u32 section;
    bool stays;
};

/* An event of the window. Numbers of other events are places in the window; DH_NONE: none, or before it. */
struct dh_osr_event {
    u32 event;
    u32 object; /* of the search; DH_NONE: it has none */
    u32 seen;   /* the write that it sees; of a signal: waits before it; of a wait: signals before it */
    u32 sight;  /* how many events see it */
    u32 death;  /* the event that ends the life of what it accesses */
    u32 users;  /* of an event that ends lives: accesses that must come before, not yet done */
};

/* An object or a lock. */
struct dh_osr_place {
    u32 id;             /* of the object; DH_NONE: the slot is free */
    u32 current;        /* the last write done */
    u32 unseen;         /* events that see it and are not done */
    u32 writes;         /* not done: writes, or acquisitions of a lock, */
    u32 reads;          /* and reads */
    u32 signals, waits; /* done */
    bool taken;         /* a lock: it is held */
    bool copied;        /* it is or has a copy: a write to an object is also one to its copies */
};

/* To go back: an event and what its object was before it; or, before that, what a copy of it was. */
struct dh_osr_done {
    u32 at;    /* in the window; DH_NONE: only a copy */
    u32 place; /* DH_NONE: none */
    u32 current, unseen;
};

/* A state from which several events could come next. */
struct dh_osr_branch {
    u32 done;      /* events done there */
    u32 from, end; /* its choices */
    u64 hash;
};

/* All zero but p and limit is a valid start; freed with the detector. */
struct dh_osr_search {
    const struct dh_predict *p;
    u64 steps, limit; /* of all searches */
    u64 stop;         /* of this one */
    u32 earlier, now;
    struct dh_osr_decision decisions[DH_OSR_DECISIONS];
    u32 *cuts; /* one for each number of decisions; the last one tried is `cut` */
    const u32 *cut;
    u32 start; /* what the cut has before this event is done in the order of the trace */
    struct dh_osr_event *events;
    u32 n, cap;
    struct dh_osr_place *places; /* open addressing */
    u32 n_places, cap_places;
    u32 *at;  /* of each thread: events done */
    u64 hash; /* of what is done and what can be seen */
    struct dh_osr_done *done;
    u32 n_done, cap_done;
    u32 executed; /* events among them */
    struct dh_osr_branch *branches;
    u32 n_branches, cap_branches;
    u32 *choices; /* places in the window */
    u32 n_choices, cap_choices;
    u64 *met; /* states, by hash; open addressing */
    u32 n_met, cap_met;
    u64 round; /* of searches: what was met before does not count */
};

/* Is there a reordering that ends right before both? Also DH_OSR_OPEN without memory (d->failed). */
enum dh_osr_answer dh_osr_search(struct dh_osr_search *s, u32 earlier, u32 now);
/* After DH_OSR_RACE: up to where it is the trace, and its events in order from there on, without the two. How
 * many they are. */
u32 dh_osr_search_start(const struct dh_osr_search *s);
u32 dh_osr_search_sequence(const struct dh_osr_search *s, u32 start, u32 *ret_sequence);

#endif
