/*
 * model.h - the contents of a stream of race records, as structs. docs/design/race-record.md describes the
 * format.
 *
 * Everything lives in the model's arena until dh_model_done. A stream may interleave the records of several
 * processes line by line: each "process" line starts a new one, with its own modules, threads and race
 * numbers, and every line names its process by a key. In version 2 of the format the key is a random 128-bit
 * number; in version 1 it was the pid, which confused processes of different containers, or absent, which
 * meant the process that began last.
 */
#ifndef DH_REPORT_MODEL_H
#define DH_REPORT_MODEL_H

#include "util/arena.h"
#include "util/map.h"

struct dh_model_module {
    int id;
    const char *path;
    const char *build_id; /* lower-case hex, "" if unknown */
};

struct dh_model_frame {
    const struct dh_model_module *module; /* NULL: unknown, and offset is absolute */
    u64 offset;                           /* return address, relative to the module */
};

struct dh_model_stack {
    struct dh_model_frame *frames; /* innermost first */
    size_t n;
};

struct dh_model_thread {
    u64 uid;
    u64 parent; /* uid; 0: none */
    u64 tid;
    const char *name; /* "" if it has none */
    struct dh_model_stack created_at;
};

struct dh_model_lock {
    u64 addr;
    bool read_mode;
    const struct dh_model_module *module; /* NULL: not a global */
    u64 offset;
    struct dh_model_stack acquired_at; /* may be empty */
};

enum dh_model_kind {
    DH_MODEL_READ,
    DH_MODEL_WRITE,
    DH_MODEL_FREE,
    DH_MODEL_UPDATE, /* reads and writes at once; in no record */
};

struct dh_model_access {
    enum dh_model_kind kind;
    bool atomic;
    bool range;
    bool stack_folded; /* frames are missing in the middle */
    u64 addr;
    u64 size;
    u64 thread; /* uid */
    struct dh_model_stack stack;
    struct dh_model_lock *locks;
    size_t n_locks;
};

enum dh_model_place {
    DH_MODEL_UNKNOWN,
    DH_MODEL_HEAP,
    DH_MODEL_GLOBAL,
    DH_MODEL_STACK,
    DH_MODEL_TLS,
    DH_MODEL_VARIABLE, /* of a trace, which says no more; in no record */
};

/* The activation of a function to which a stack address belongs, with the registers at `pc`. */
struct dh_model_activation {
    struct dh_model_stack pc; /* one frame; none: it is not known */
    u64 sp, bp, cfa;
};

struct dh_model_location {
    enum dh_model_place place;
    u64 start, size;                      /* heap */
    u64 offset;                           /* heap: in the block; global: in the module; stack: from the top;
                                             tls: in the module's thread-local segment */
    u64 thread;                           /* heap: that allocated; stack, tls: that owns it */
    bool freed;                           /* heap: freed and not reused */
    const struct dh_model_module *module; /* global; tls: NULL if not known */
    struct dh_model_stack allocated_at;   /* heap */
    struct dh_model_activation frame;     /* stack */
};

/* The outcome of a race that was confirmed in the field. */
enum dh_model_order { DH_MODEL_ORDER_UNKNOWN, DH_MODEL_AS_SHOWN, DH_MODEL_REVERSED, DH_MODEL_BOTH };

/* How accesses at the two places of a race are locked, as far as the detector has kept track. */
struct dh_model_discipline {
    u64 accesses;                   /* 0: none recorded */
    struct dh_model_lock lock;      /* that most of them held */
    u64 held;                       /* by how many; 0: there is no such lock */
    struct dh_model_frame taken_at; /* the call by which most of them took a lock, perhaps of many */
    u64 held_from;                  /* how many; 0: there is no such call */
    u64 observations;               /* of one place being accessed after the other, by another thread */
    struct dh_model_lock order;     /* that ordered most of these */
    u64 ordered;                    /* how many; 0: there is no such object */
};

struct dh_model_confirmed {
    enum dh_model_order order; /* of the accesses when they met: the earlier one first, or the reverse */
    const char *consequence;   /* one word: "none", "crash", "hang" ... */
    const char *detail;        /* in words */
    const char *analysis;      /* "litehb" or "fullhb": they were unordered; NULL: they were simultaneous */
    bool maybe_atomic;         /* the machine code does not show whether both accesses are atomic */
};

/* What CTest started: this process or an ancestor of it. Identifies the test. */
struct dh_model_ctest {
    const char *const *command;
    size_t n_command;              /* 0: nothing */
    const char *command_cwd, *cwd; /* working directories: of the command, of CTest */
    const char *start;             /* where CTest was started, or told to go; "": not known */
};

struct dh_model_process {
    const char *id; /* 32 hex digits; "" in records of version 1 */
    u64 pid;
    const char *exe;
    const char *detector;
    const char *guarantee;
    const char *cwd;
    const char *const *args; /* including argv[0]; may be truncated */
    size_t n_args;
    struct dh_model_ctest ctest;
    u64 started;           /* milliseconds since 1970; 0: not known */
    const char *host;      /* a hash of its name; "": not known */
    const char *test;      /* for which it ran; "": not known */
    struct dh_map modules; /* int id -> struct dh_model_module */
    struct dh_map threads; /* u64 uid -> struct dh_model_thread */
    struct dh_map races;   /* u64 id -> struct dh_model_race */
    bool announced;        /* by a line of its own */
    bool ended;            /* and its records are complete; otherwise it was killed, or is still running */
    bool decided;          /* it has announced its exit status because of its races: */
    u64 status;            /* 0: its own status, despite them */
    /* For the reporter: */
    bool raced;                    /* it had a race that was not suppressed */
    struct dh_suppress *suppress;  /* its own rules, in addition to the common ones; NULL: none */
    struct dh_model_process *next; /* the one that began before */
};

struct dh_model_race {
    u64 id;
    struct dh_model_process *process;
    struct dh_model_access accesses[2]; /* the one at which the race was found; the earlier one */
    struct dh_model_location location;
    struct dh_model_discipline discipline;
    u64 newest_thread; /* uid of the thread that was created last when the race was found; 0: not known */
    bool confirmed;    /* the two met in the field; `how` has the details */
    struct dh_model_confirmed how;
    void *owner; /* for the reporter: the group it belongs to */
};

struct dh_model {
    struct dh_arena *arena;
    struct dh_model_process *process; /* the current one; NULL before the first record that needs one */
    struct dh_map processes;          /* key -> struct dh_model_process, the one that began last */
    struct dh_map counters;           /* name -> u64 *, summed over all processes */
    const struct dh_path_map *paths;  /* where the sources of findings are now; NULL: where they were */
};

void dh_model_init(struct dh_model *m, struct dh_arena *arena);
void dh_model_done(struct dh_model *m);
/* A new process, to which lines with this key belong from now on. */
struct dh_model_process *dh_model_begin_process(struct dh_model *m, const void *key, size_t len);
/* The process that began last; created if there is none yet. */
struct dh_model_process *dh_model_current(struct dh_model *m);
/* The process with this key that began last, or NULL. */
struct dh_model_process *dh_model_find_process(const struct dh_model *m, const void *key, size_t len);

const struct dh_model_thread *dh_model_find_thread(const struct dh_model_process *p, u64 uid);
void dh_model_count(struct dh_model *m, const char *name, u64 value);
u64 dh_model_counter(const struct dh_model *m, const char *name);

#endif
