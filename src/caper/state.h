/*
 * state.h - what Caper knows about a program after all runs so far, in a file (docs/design/caper.md).
 *
 * The file is text, one JSON object per line, and is replaced as a whole: a reader finds either the old or
 * the new one. A writer holds a lock, on FILE.lock, from reading the file to writing it. While a program
 * runs, no lock is held.
 */
#ifndef DH_CAPER_STATE_H
#define DH_CAPER_STATE_H

#include <sys/types.h>

#include "util/arena.h"

/* A merged run, or several in a row in which nothing new escaped. For the alias analysis, `new` counts pairs,
 * dp is the pairs seen, sp those not seen, and escaped their sites. */
struct dh_caper_merged {
    int64_t time;    /* when it was merged, in seconds since 1970 */
    u64 runs;        /* how many: 1, or more */
    u64 new_sites;   /* that escaped in it for the first time */
    u64 escaped;     /* sites in deSites at that time */
    u64 sp, dp;      /* pairs in spPairs and dpPairs at that time */
    bool silent;     /* no query was enabled, for a reason already reported: `new` is meaningless */
    const char *end; /* how the program ended: "exit 0", "signal 9"; "unknown": the command was killed */
    const char *build_id;
    const char *file; /* of the run, without its directory */
};

/* Two sites, by their ids. */
struct dh_caper_pair {
    u64 site[2];
};

struct dh_caper_state {
    struct dh_arena *arena;
    const char *path; /* of the file itself, not of a link to it; absolute */
    bool exists;
    mode_t mode;
    const char *build_id, *program; /* program: absolute */
    u64 *sites;                     /* ids of deSites: a heap array */
    size_t n_sites, cap_sites;
    bool alias;                  /* of the alias analysis: has pairs instead of sites */
    struct dh_caper_pair *pairs; /* that were seen: a heap array */
    size_t n_pairs, cap_pairs;
    struct dh_caper_merged *merged; /* a heap array */
    size_t n_merged, cap_merged;
};

/* All of these return 0, or -1 with *ret_why: a reason, to be part of a sentence. */

/* Determines where the state is; it need not exist. Nothing is read yet. */
int dh_caper_state_init(struct dh_caper_state *s, struct dh_arena *arena, const char *path,
                        const char **ret_why);
/* Waits for the lock. *ret_lock is a descriptor to close. */
int dh_caper_state_lock(const struct dh_caper_state *s, int *ret_lock, const char **ret_why);
/* Reads the present state; s->exists says whether there is one. */
int dh_caper_state_read(struct dh_caper_state *s, const char **ret_why);
/* Called under the lock. On failure the file is unchanged. */
int dh_caper_state_write(struct dh_caper_state *s, const char **ret_why);
/* Called under the lock: gives the file the additional name FILE.old. */
int dh_caper_state_keep(const struct dh_caper_state *s, const char **ret_why);
void dh_caper_state_done(struct dh_caper_state *s);

void dh_caper_state_add_site(struct dh_caper_state *s, u64 id);
void dh_caper_state_add_pair(struct dh_caper_state *s, u64 a, u64 b);
void dh_caper_state_add_merged(struct dh_caper_state *s, const struct dh_caper_merged *m);
u64 dh_caper_state_runs(const struct dh_caper_state *s);
/* The number of most recent runs in a row in which nothing new escaped. */
u64 dh_caper_state_steady(const struct dh_caper_state *s);
/* Has this run file been merged? */
bool dh_caper_state_has_run(const struct dh_caper_state *s, const char *file);

/* state_text.c: the file as text, from malloc. */
char *dh_caper_state_print(const struct dh_caper_state *s, size_t *ret_len);
int dh_caper_state_parse(struct dh_caper_state *s, const char *text, size_t len, const char **ret_why);

#endif
