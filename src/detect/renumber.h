/*
 * renumber.h - reuses thread numbers, for traces with very many threads.
 *
 * A detector's clocks have an entry for every thread number, so a hundred thousand threads in succession, as
 * language runtimes create them, would cost a hundred thousand entries per clock. Threads whose own number is
 * DH_RENUMBER_FROM or more therefore get, if possible, the number of a thread that their creator has joined:
 * all that it did happened before them, so for any order the two are like one thread. Others keep their own,
 * and small traces are not changed.
 *
 * Reports still name the right thread: an access of a thread with a reused number gets a new site number,
 * which stands for both the thread and the site.
 */
#ifndef DH_DETECT_RENUMBER_H
#define DH_DETECT_RENUMBER_H

#include "detect/mem.h"
#include "detect/table.h"
#include "event/event.h"

enum { DH_RENUMBER_FROM = 256 };

struct dh_race_access;

struct dh_renumber_site {
    u32 site, thread;
};

/* All zero is a valid start. */
struct dh_renumber {
    struct dh_table threads; /* by thread: its number, + 1; 0: none yet */
    struct dh_table numbers; /* by number: who has it and who had it first; lists of free ones */
    u32 next;                /* number never used */
    bool active;
    struct dh_mem mem;
    struct dh_renumber_site *sites;
    u32 n_sites, cap_sites;
    u32 *index; /* open addressing: sites + 1 */
    u32 cap_index;
};

/* Will these events, the next ones, be rewritten? From the first number above the limit on, also one that is
 * only forked or joined, all are. */
bool dh_renumber_due(const struct dh_renumber *r, const struct dh_event *events, size_t n);
/* Rewrites the threads of these events, and the sites of some. 0 or -ENOMEM. */
int dh_renumber(struct dh_renumber *r, struct dh_event *events, size_t n);
/* The thread and site of an access as they were. */
void dh_renumber_restore(const struct dh_renumber *r, u32 *thread, u32 *site);
void dh_renumber_done(struct dh_renumber *r);

#endif
