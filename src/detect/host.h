/*
 * host.h - drives any number of detectors over one stream of events, in one pass.
 *
 * Not thread-safe: the caller serialises. Uses only `base`, so that it can run in a target process.
 *
 * Detectors are independent of one another. So a multi-threaded caller may feed in parts: dh_host_prepare for
 * one batch after the other, then dh_host_drive for each detector, each detector's batches in order, and at
 * the end dh_host_share, then dh_host_finish_one for each. Different threads may then drive different
 * detectors at the same time, while later batches are prepared, unless dh_host_renumbers: from then on no
 * detector may be running while a batch is prepared. on_race is called by the thread that drives the
 * detector.
 */
#ifndef DH_DETECT_HOST_H
#define DH_DETECT_HOST_H

#include "detect/detector.h"

/* Called for every race reported, before any counting; `index` is the detector's place in the order of
 * adding. */
typedef void dh_host_race_fn(void *ctx, u32 index, const struct dh_race *race);

/* What one detector found. */
struct dh_host_result {
    u64 reports;     /* pairs reported */
    u64 racy_events; /* distinct later accesses */
    u64 variables;   /* distinct variables */
    u64 site_pairs;  /* distinct unordered pairs of sites; one side may be unknown */
    u64 places;      /* distinct sites of the later accesses */
    u64 first_event; /* DH_NO_EVENT: none */
    size_t memory;   /* bytes the detector holds */
    u64 given_up;    /* questions the detector left open, where it reached a bound that it states */
    int error;       /* 0, or why the detector did not see everything: -ENOMEM; -EDQUOT: its limit of memory;
                        -E2BIG: too many       threads; -EFBIG: too many events */
};

struct dh_host *dh_host_new(dh_host_race_fn *on_race, void *ctx); /* NULL: no memory */
void dh_host_free(struct dh_host *h);
/* Before the first event. 0 or -ENOMEM. */
int dh_host_add(struct dh_host *h, const struct dh_detector_ops *ops);
/* The one that was added last, for callers that pass it more than events. */
struct dh_detector *dh_host_last(const struct dh_host *h);
/* The most memory that each detector added from here on may take, in bytes; 0: no limit. One that needs more
 * is stopped. */
void dh_host_limit(struct dh_host *h, size_t bytes);
/* For detectors that work on windows of the trace, those added from here on; 0: their own choice. */
void dh_host_window(struct dh_host *h, u64 events);
/* Holds the events although no detector needs them, for dh_host_trace. Before the first event. */
void dh_host_keep(struct dh_host *h);
/* The events held, filtered; valid until more are fed. */
struct dh_trace dh_host_trace(const struct dh_host *h);
/* The thread and site of a held event as they were fed: detectors may be given others (renumber.h). */
void dh_host_origin(const struct dh_host *h, u32 *thread, u32 *site);
/* Only races on variables for which this returns true are reported; NULL: all. Called for each race, and
 * before searching for one. */
typedef bool dh_host_wants_fn(void *ctx, u32 cell);
void dh_host_only(struct dh_host *h, dh_host_wants_fn *wants);

enum { DH_HOST_BATCH = 4096 };

/* Events on their way to the detectors. */
struct dh_host_batch {
    struct dh_event *events;
    size_t n;     /* at most DH_HOST_BATCH */
    u64 first;    /* number of the first event */
    u32 n_others; /* events that are no plain accesses, by index: */
    u32 others[DH_HOST_BATCH];
};

/* The next events, `events` and `n` of the batch; those that the filter removes are overwritten; all stay in
 * use until every detector has been driven. 0 or -ENOMEM. */
int dh_host_prepare(struct dh_host *h, struct dh_host_batch *b);
void dh_host_drive(struct dh_host *h, u32 index, const struct dh_host_batch *b);
/* Before dh_host_prepare: must no detector be running while it prepares this batch? */
bool dh_host_renumbers(const struct dh_host *h, const struct dh_host_batch *b);

/* All of that in one. Events in order, any number per call; those that the filter removes are overwritten. 0
 * or -ENOMEM, when the host itself could not go on. */
int dh_host_feed(struct dh_host *h, struct dh_event *events, size_t n);
/* Variable `to`, never used so far, is a part of `from` that becomes a variable of its own: it has the same
 * history. For detectors that need no whole trace. */
void dh_host_split(struct dh_host *h, u32 to, u32 from);
/* The end of the trace: detectors that need all of it run now. */
void dh_host_finish(struct dh_host *h);
/* In parts: first compute what several of them have in common, then run each. */
void dh_host_share(struct dh_host *h);
void dh_host_finish_one(struct dh_host *h, u32 index);
void dh_host_result(const struct dh_host *h, u32 index, struct dh_host_result *ret_result);

#endif
