/*
 * runfile.h - the file in which a program reports which groups of its accesses have touched escaped memory
 * (base/caper.h): one for each run, next to the state, named STATE.run-XXXXXX.
 *
 * All operations hold the lock of the state. The command that waits for the program also holds a lock on the
 * run file. A file without that lock was left by a run whose command was killed, or whose program left
 * processes behind; the kernel tells whether any process still has it mapped.
 */
#ifndef DH_CAPER_RUNFILE_H
#define DH_CAPER_RUNFILE_H

#include "caper/build.h"
#include "caper/sets.h"
#include "caper/state.h"

struct dh_caper_runfile {
    const char *path;
    int fd;                   /* locked */
    struct dh_caper_run *run; /* the contents of the file, as read; on the heap */
    size_t size;              /* ... and their size */
    bool in_use;              /* ... by a process that may write more */
};

enum dh_caper_ask {
    DH_CAPER_ASK_NEW, /* those that may find something: with a site in a pair but not in deSites */
    DH_CAPER_ASK_ALL,
    DH_CAPER_ASK_NONE
};

/* Creates the file for a run. *ret_asked is the number of queries enabled. 0, or -1 with *ret_why. */
int dh_caper_runfile_new(const struct dh_caper_state *s, const struct dh_caper_build *b,
                         const struct dh_caper_sets *sets, enum dh_caper_ask ask,
                         struct dh_caper_runfile *ret, u32 *ret_asked, const char **ret_why);
/* Lists the existing run files of the state; returns how many there are. */
size_t dh_caper_runfile_list(const struct dh_caper_state *s, const char ***ret);
/* Opens one left behind. False: it is not ours, or a command waits for its program. */
bool dh_caper_runfile_open(const char *path, struct dh_caper_runfile *ret);
/* Reads it. False: there is nothing valid in it, or nothing yet. */
bool dh_caper_runfile_read(struct dh_caper_runfile *r);
bool dh_caper_runfile_fits(const struct dh_caper_runfile *r, const struct dh_caper_build *b);
/* Adds the answers to deSites, and their sites to the state; for the alias analysis, pairs. Returns how many
 * were new. */
u64 dh_caper_runfile_merge(const struct dh_caper_runfile *r, const struct dh_caper_build *b,
                           struct dh_caper_sets *sets, struct dh_caper_state *state);
void dh_caper_runfile_close(struct dh_caper_runfile *r);

#endif
