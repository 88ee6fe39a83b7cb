/*
 * vm.h - what the files of lardvm share.
 *
 * A program is a list of instructions over registers, objects and arrays. Its threads are green: W kernel
 * threads, the workers, run any number of them, and a thread changes its worker wherever it may be switched.
 * All state of a green thread is in struct thread, none on a machine stack, so that switching is a return to
 * the scheduler (sched.c).
 *
 * How this run-time system speaks to deadheat is explained in README.md; every call of lard.h in the source
 * names the rule of the paper that asks for it.
 */
#ifndef LARDVM_VM_H
#define LARDVM_VM_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <deadheat/lard.h>

/* ---- Values ----
 * An odd one is an integer of 63 bits, an even one a reference; so the collectors need no types. */
typedef uint64_t value;

static inline value value_of_int(int64_t i)
{
    return (uint64_t)i << 1 | 1;
}

static inline int64_t int_of_value(value v)
{
    return (int64_t)v >> 1;
}

static inline bool is_object(value v)
{
    return v != 0 && !(v & 1);
}

/* For a few of them, faster than a call of memset or memcpy; those are intercepted, too, in a program linked
 * with deadheat. The empty statement keeps compilers from making such a call of it. */
static inline void clear_values(value *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = 0;
        __asm__ volatile("" ::: "memory");
    }
}

static inline void copy_values(value *to, const value *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        __asm__ volatile("" ::: "memory");
    }
}

/* ---- Programs (asm.c) ---- */

enum { MAX_REGISTERS = 64, MAX_FIELDS = 64, MAX_NAMES = 256, ARRAY_CLASS = MAX_NAMES };

enum op {
#define OP(name, operands) OP_##name,
#include "ops.def"
#undef OP
    OP_COUNT
};

/* Its address is what deadheat is told as the site of an access. */
struct insn {
    uint16_t op;
    uint16_t a;
    int32_t b, c;
    uint32_t line;
};

struct func {
    const char *name;
    uint32_t start; /* its first instruction */
    uint32_t args, registers;
};

struct class
{
    const char *name;
    uint32_t n_fields;
    const char *fields[MAX_FIELDS];
    bool is_volatile[MAX_FIELDS];
};

struct global {
    const char *name;
    bool is_volatile;
};

struct program {
    const char *path;
    char *text; /* holds all names */
    struct insn *code;
    uint32_t n_code, n_funcs, n_classes, n_globals;
    struct func funcs[MAX_NAMES];
    struct class classes[MAX_NAMES];
    struct global globals[MAX_NAMES];
};

/* Reads a program, or ends with one sentence about what is wrong with it. */
void program_read(struct program *p, const char *path);

/* ---- Objects (heap.c) ---- */

struct monitor;

struct object {
    uint32_t class; /* or ARRAY_CLASS */
    uint32_t count; /* of slots */
    uint64_t id;    /* from 1, never used again; 0: a free cell of the mark-sweep collector */
    _Atomic(struct monitor *) monitor; /* made when it is first used */
    struct object *mark;               /* while collecting: itself or its copy, if it was reached */
    value slots[];
};

static inline size_t object_size(uint32_t count)
{
    return sizeof(struct object) + count * sizeof(value);
}

/* ---- Latches ----
 * For what is held for a few instructions only. It is the run-time system's own, and being made of atomics it
 * is nothing that deadheat would intercept: where this code is not instrumented, it costs nothing. */
typedef struct latch {
    atomic_bool held;
} latch;

static inline void latch_close(latch *l)
{
    for (int tries = 1; atomic_exchange_explicit(&l->held, true, memory_order_acquire); tries++)
        if (tries % 64 == 0)
            sched_yield(); /* its holder may have lost its processor */
}

static inline void latch_open(latch *l)
{
    atomic_store_explicit(&l->held, false, memory_order_release);
}

/* ---- Monitors (monitor.c) ---- */

struct thread;

struct queue { /* of threads, first in first out */
    struct thread *first, *last;
};

struct monitor {
    /* Its address, that of its first member, is what deadheat knows the monitor by; that of the latch must be
     * another, since one is a lock of the program and the other of the run-time system. */
    struct thread *owner;
    uint32_t depth;        /* how often the owner entered */
    struct queue entering; /* for the owner to leave */
    struct queue waiting;  /* for a notification */
    struct object *object; /* whose it is; not a root */
    struct monitor *next;  /* in the list of all, or of spare ones */
    latch latch;           /* for owner, depth and the queues */
};

/* ---- Green threads (thread.c, sched.c) ---- */

struct frame {
    uint32_t func, pc; /* pc: the next instruction */
    uint32_t base;     /* of its registers */
    uint32_t result;   /* register of the caller for what it returns */
};

struct thread {
    uint32_t id; /* from 0, the main thread's */
    dh_lard_thread *lard;
    struct frame *frames;
    uint32_t depth, max_frames;
    value *registers;
    uint32_t max_registers;
    uint32_t saved_depth;           /* of the monitor it waits in */
    uint32_t stage;                 /* that it awaits */
    bool resumed;                   /* it was blocked by the instruction that it executes again */
    struct thread *next, *prev;     /* in the queue it is in */
    struct thread *older, *younger; /* of those that have not ended */
    latch latch;                    /* for what follows */
    bool ended, joined;
    struct thread *joiner;
};

/* Why a thread gave up its worker. The latch, if any, is to be opened when the worker has left the thread:
 * from then on another worker may run it. */
enum outcome { YIELDED, BLOCKED, ENDED };

/* ---- Workers (sched.c) ---- */

enum { SIZE_CLASSES = 11 };

struct worker {
    uint32_t index;
    pthread_t kernel;
    uint64_t next_id; /* of objects */
    uint32_t random;
    latch *open_after; /* see enum outcome */
    /* Its own piece of the heap: for the semispace collector the rest of a chunk, for mark-sweep the free
     * cells of a block for each size. Given back at every collection. */
    char *bump, *limit;
    struct object *cells[SIZE_CLASSES];
    /* Threads that are ready. The worker takes the first, thieves the last. */
    latch latch;
    struct thread *first, *last;
};

/* ---- The machine ---- */

struct collector {
    const char *name;
    void (*init)(size_t bytes);
    struct object *(*allocate)(struct worker *w, size_t bytes); /* NULL: collect first */
    void (*collect)(void);                                      /* the world has stopped */
};

struct vm {
    struct program program;
    const struct collector *collector;
    value *globals;
    struct worker *workers;
    uint32_t n_workers;
    int64_t param;
    struct oracle *oracle; /* NULL: the program runs freely */

    /* Threads. The table is only extended, under its latch. */
    latch threads_latch;
    struct thread **threads;
    struct thread *youngest; /* of those that have not ended */
    uint32_t n_threads, max_threads;
    atomic_uint live, ready, sleepers;

    /* The world: how many workers run, and whether they are asked to stop. */
    pthread_mutex_t world;
    pthread_cond_t stopped, resumed, work;
    uint32_t running;
    atomic_bool stop;
    uint32_t collections;

    /* `stage` and `await`. */
    latch stage_latch;
    uint32_t stage;
    struct queue awaiting;

    /* How many accesses of the program there were; counted for the oracle only. */
    atomic_uint_fast64_t accesses;
};

extern struct vm vm;

/* main.c */
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

/* asm.c */
extern const char *const op_names[OP_COUNT];

/* interp.c */
enum outcome interpret(struct worker *w, struct thread *t);

/* thread.c */
struct thread *thread_new(struct thread *parent, uint32_t func, value arg);
struct thread *thread_find(int64_t id);
void thread_push(struct thread *t, uint32_t func, uint32_t result, const value *args);
void thread_ends(struct worker *w, struct thread *t);
void threads_free(void);
void queue_add(struct queue *q, struct thread *t);
struct thread *queue_take(struct queue *q);

/* What may block: the thread goes on, it is BLOCKED and executes the instruction again, or it may not do so.
 */
enum progress { GO_ON, BLOCK, REFUSE };
enum progress thread_join(struct worker *w, struct thread *t, struct thread *other);
void stage_next(struct worker *w);
enum progress stage_await(struct worker *w, struct thread *t, uint32_t stage);

/* monitor.c */
enum progress monitor_enter(struct worker *w, struct thread *t, struct object *o);
enum progress monitor_leave(struct worker *w, struct thread *t, struct object *o);
enum progress monitor_wait(struct worker *w, struct thread *t, struct object *o);
enum progress monitor_notify(struct thread *t, struct object *o, bool all);
void monitors_sweep(void);

/* sched.c */
void sched_run(uint32_t workers);
void sched_ready(struct worker *w, struct thread *t);
void sched_stop_world_and(struct worker *w, void (*act)(void));
void sched_safepoint(struct worker *w);

/* heap.c */
struct object *heap_new(struct worker *w, uint32_t class, uint32_t count);
void heap_collect(struct worker *w);
void heap_each_root(void (*visit)(value *slot));
extern const struct collector mark_sweep, semispace;

#endif
