/*
 * detector.h - what a detector is: one `const struct dh_detector_ops` in one file, one line in detectors.def.
 *
 * The host (detect/host.h) owns everything around it. It keeps the state of every thread, lock and variable,
 * hands it out zeroed (all-zero is a valid start) and frees it; it removes repeated acquisitions of a lock by
 * its holder from the stream; it counts and collects the races. A detector never prints, never keeps a
 * pointer to an event, never takes a lock of its own (the host serialises), and so runs unchanged on a trace
 * and inside a running program.
 *
 * Handlers get the state the event concerns. A NULL handler means that this detector ignores the event.
 * Within a handler the state of any other thread or lock may be reached by dh_detect_thread() and
 * dh_detect_lock().
 *
 * Memory beyond the fixed-size state comes from dh_detect_alloc(): zeroed, and all freed with the detector.
 * If it returns NULL, the handler returns as soon as it can; the host feeds no more events to that detector
 * and says so in its result.
 *
 * A detector whose definition needs the whole trace sets `whole_trace` and no handlers; the host then holds
 * the events (16 bytes each) and calls it once at the end.
 */
#ifndef DH_DETECT_DETECTOR_H
#define DH_DETECT_DETECTOR_H

#include "detect/companions.h"
#include "detect/mem.h"
#include "detect/table.h"
#include "event/event.h"

enum dh_guarantee {
    DH_PRECISE,          /* reports if and only if the observed trace has a race */
    DH_HYBRID,           /* races of other schedules too; some may be false */
    DH_PREDICTIVE_SOUND, /* races of other schedules too; its file says what it guarantees about them */
    DH_UNSOUND,          /* both false alarms and misses */
    DH_NO_GUARANTEE,     /* measures, does not detect */
};

/* One access of a race. */
struct dh_race_access {
    u32 thread; /* DH_UNKNOWN where the detector does not remember it */
    u32 site;   /* meaningless if thread is DH_UNKNOWN */
    u64 event;  /* number in the trace, from 0; DH_NO_EVENT where the detector does not remember it */
    bool write;
};

#define DH_UNKNOWN UINT32_MAX
#define DH_NO_EVENT UINT64_MAX

struct dh_race {
    u32 cell;
    struct dh_race_access now;     /* the later access: the one at which the race was found */
    struct dh_race_access earlier; /* of another thread */
    /* A valid reordering of the trace, whose last two events are the racing accesses: the first witness_start
     * events of the trace as they are, then those of `witness`, by number; witness_len in total. NULL: none.
     * Only valid during the callback. */
    const u32 *witness;
    u64 witness_start, witness_len;
};

struct dh_predict;

/* The whole trace, for detectors that need it. Events that the host filtered out have op DH_OP_SKIP, so that
 * an index is the number of the event. */
struct dh_trace {
    const struct dh_event *events;
    u64 n;
    u32 threads; /* dense ids are below these */
    u32 locks;
    u32 cells;
    const struct dh_predict *shared; /* as the predictive detectors see it; NULL: each computes it by
                                      * itself */
};

struct dh_detector;
struct dh_host;
struct dh_batch;

typedef void dh_access_fn(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell);
typedef void dh_sync_fn(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock);
typedef void dh_thread_fn(struct dh_detector *d, const struct dh_event *e, void *thread, void *other);

struct dh_detector_ops {
    const char *name;
    const char *paper;
    enum dh_guarantee guarantee;
    const char *summary; /* one line: how it works and what it promises */

    /* Sizes of the state; 0: none. */
    u32 own_size; /* of the detector itself: d->own */
    u32 thread_size;
    u32 lock_size; /* of everything in the name space of locks: conditions, barriers, volatiles, atomics */
    u32 cell_size;

    void (*init)(struct dh_detector *d); /* after d->own is there */
    void (*thread_init)(struct dh_detector *d, void *thread,
                        u32 tid); /* before anything else of this thread */

    dh_access_fn *read;
    dh_access_fn *write;
    dh_sync_fn *acquire; /* e->mode: DH_EXCLUSIVE, DH_SHARED; first of nested ones only */
    dh_sync_fn *release; /* likewise; last of nested ones */
    dh_sync_fn *let_go;  /* likewise, but without ordering: the lock is just no longer held */
    dh_thread_fn *fork;  /* other: the new thread */
    dh_thread_fn *join;  /* other: the ended one */
    dh_sync_fn *volatile_access;
    dh_sync_fn *atomic; /* load, store, rmw; lock is NULL for a fence */
    dh_sync_fn *barrier_enter;
    dh_sync_fn *barrier_leave;
    dh_sync_fn *wait;
    dh_sync_fn *notify;
    /* A hint: the access e to this cell comes soon. It may only __builtin_prefetch what will be touched
     * beyond the cell. */
    void (*soon)(const struct dh_event *e, const void *cell);
    /* read, write and soon in a loop of their own, generated by DH_DRIVE of drive.h for speed; may be
     * NULL. */
    void (*accesses)(struct dh_detector *d, struct dh_batch *b, size_t from, size_t to);
    /* Free what the cell has from dh_detect_alloc: the cell is discarded, and the host zeroes it afterwards.
     * NULL if cells hold nothing. */
    void (*cell_drop)(struct dh_detector *d, void *cell);
    /* `to`, all zero, becomes a deep copy of `from`. NULL only if cell_drop is NULL too: then a bytewise copy
     * is enough. */
    void (*cell_copy)(struct dh_detector *d, void *to, const void *from);
    bool plain_only; /* atomic accesses are not shown to this detector (companions.h) */

    /* 0, or a negative errno-like code. */
    int (*whole_trace)(struct dh_detector *d, const struct dh_trace *trace);
};

/* One detector at work. Fields are the host's; a detector reads `own` and uses the functions below. */
struct dh_detector {
    const struct dh_detector_ops *ops;
    void *own;
    struct dh_host *host;
    struct dh_mem mem;
    struct dh_table threads;
    struct dh_table locks;
    struct dh_table cells;
    struct dh_companions companions;
    void *spare_cell;           /* of drive.c; NULL: not needed yet, otherwise zeroed */
    struct dh_vc_memo *vc_memo; /* of vc_tree.c; NULL: not needed yet */
    u64 event;                  /* number of the event being handled */
    u64 window;                 /* events a windowed detector looks at together; 0: its own choice */
    u64 given_up;               /* questions left open because a bound that the detector states was reached */
    u32 n_threads;              /* thread_init was called for all below */
    u32 cell;                   /* of the access being handled */
    u32 index;                  /* in the host */
    bool failed;                /* no memory: no more events */
};

DH_INLINE void *dh_detect_alloc(struct dh_detector *d, size_t n)
{
    void *p = dh_mem_alloc(&d->mem, n);
    if (DH_UNLIKELY(!p))
        d->failed = true;
    return p;
}

DH_INLINE void dh_detect_free(struct dh_detector *d, void *p, size_t n)
{
    dh_mem_free(&d->mem, p, n);
}

/* A copy of n bytes; NULL if n is 0 or there is no memory. */
void *dh_detect_dup(struct dh_detector *d, const void *p, size_t n);

/* The array, grown to have room for element id; `*n` is its capacity, `size` that of an element; new ones are
 * zeroed. Without memory the array and *n are unchanged. */
void *dh_detect_grow(struct dh_detector *d, void *items, u32 *n, u32 id, u32 size);

/* Ensure that the array (a pointer and its number of elements, both assigned to) has an element id. False: no
 * memory. */
#define DH_ROOM(d, items, n, id) \
    (DH_LIKELY((id) < (n)) ||    \
     (((items) = dh_detect_grow(d, items, &(n), id, (u32)sizeof(*(items)))) != NULL && (id) < (n)))

/* State of any thread or lock, created on first use. NULL: no memory (or no such state). */
void *dh_detect_thread(struct dh_detector *d, u32 tid);
void *dh_detect_lock(struct dh_detector *d, u32 lock);

/* Would a race on this variable be reported? If not, there is no need to search for one. */
bool dh_detect_wants(const struct dh_detector *d, u32 cell);

/* A race. d->event and d->cell are filled in by the host when the race is found by a handler; a whole-trace
 * detector fills in everything. */
void dh_detect_emit(struct dh_detector *d, const struct dh_race *race);

/* An access is reported as racing with at most this many threads: reporting every pair would be quadratic in
 * the number of threads. */
enum { DH_RACES_OF_ACCESS = 1024 };

/* The usual case: access e races with an earlier one of `thread` at `site`. */
void dh_detect_race(struct dh_detector *d, const struct dh_event *e, u32 thread, u32 site, bool write);

/* The list. */
extern const struct dh_detector_ops *const dh_detectors[];
extern const u32 dh_n_detectors;
const struct dh_detector_ops *dh_detector_find(const char *name, size_t len);
const char *dh_guarantee_name(enum dh_guarantee g);

#endif
