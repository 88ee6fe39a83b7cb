/*
 * runfile.h - the file through which a program says which groups of its accesses have touched escaped memory
 * (base/caper.h): one for each run, beside the state, as STATE.run-XXXXXX.
 *
 * All is done under the lock of the state. The command that waits for the program holds a lock on the run
 * file, too. A file without that lock is what is left of a run whose command was killed, or whose program has
 * left processes behind; the kernel says whether anybody has it mapped still.
 */
#ifndef DH_CAPER_RUNFILE_H
#define DH_CAPER_RUNFILE_H

#include "caper/build.h"
#include "caper/sets.h"
#include "caper/state.h"

struct dh_caper_runfile {
    const char *path;
    int fd;                   /* locked */
    struct dh_caper_run *run; /* what is in the file, as it was read; on the heap */
    size_t size;              /* ... and how much */
    bool in_use;              /* ... by somebody who may write more */
};

enum dh_caper_ask {
    DH_CAPER_ASK_NEW, /* what may find something: groups with a site that is in a pair, and not in deSites */
    DH_CAPER_ASK_ALL,
    DH_CAPER_ASK_NONE
};

/* Makes a file, for a run. *ret_asked is how many questions are asked. 0, or -1 and *ret_why. */
int dh_caper_runfile_new(const struct dh_caper_state *s, const struct dh_caper_build *b,
                         const struct dh_caper_sets *sets, enum dh_caper_ask ask,
                         struct dh_caper_runfile *ret, u32 *ret_asked, const char **ret_why);
/* Those of the state that are there. How many. */
size_t dh_caper_runfile_list(const struct dh_caper_state *s, const char ***ret);
/* Opens one that was left. False: it is none of ours, or a command waits for its program. */
bool dh_caper_runfile_open(const char *path, struct dh_caper_runfile *ret);
/* Reads it. False: there is nothing in it yet, or nothing that makes sense. */
bool dh_caper_runfile_read(struct dh_caper_runfile *r);
bool dh_caper_runfile_fits(const struct dh_caper_runfile *r, const struct dh_caper_build *b);
/* Puts what was answered into deSites, and its sites into the state; of the alias analysis, pairs. How many
 * were new. */
u64 dh_caper_runfile_merge(const struct dh_caper_runfile *r, const struct dh_caper_build *b,
                           struct dh_caper_sets *sets, struct dh_caper_state *state);
void dh_caper_runfile_close(struct dh_caper_runfile *r);

#endif
