/*
 * thread.h - logical threads.
 *
 * A logical thread is a stream of events with a vector clock. As a rule it is one kernel thread; with
 * fibers a kernel thread changes which one it is (dh_thread_switch). struct dh_thread is the working state
 * of a live one; struct dh_thread_info is what reports need for ever.
 */
#ifndef DH_RUNTIME_THREADS_THREAD_H
#define DH_RUNTIME_THREADS_THREAD_H

#include "base/lock.h"
#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/runtime.h"
#include "runtime/shadow/ids.h"
#include "runtime/threads/signal.h"

/* Sizes of the per-thread tables: powers of two; what is used of them should stay in the nearer caches. */
enum {
    DH_IDC = 1024,    /* (context, pc, kind) to id of this epoch */
    DH_IDC_WAYS = 4,  /* ... which must not thrash: a miss makes a new id */
    DH_ORDERED = 512, /* cells known to have happened before */
    DH_MINE = 256,    /* histories known to contain this epoch */
    DH_STEP = 1024,   /* (old cell, id and mask) to new cell */
    DH_CTXC = 4096,   /* (parent, pc) to context */
    DH_LSC = 128,     /* (set, lock, ctx) to lockset */
    DH_SEEN = 64,     /* atomic objects used lately */
    DH_LATELY = 16,   /* addresses synchronised on lately */
    DH_PINS = 8,      /* held.h */
    DH_MIXING_START = 2048,
    DH_SPARE_SPLITS = 64, /* records of split cells kept at hand */
    DH_PENDING = 64,      /* reads to be looked at again (engine/pending.h) */
    DH_PENDING_MASK = 60, /* first bit of the byte mask in one; addresses have 47 */
    DH_PARTS = 16,        /* words of which parts wait to be recorded (engine/parts.h) */
    DH_HELD_MAX = 128,    /* locks whose names a report can give; further ones only order */
    DH_OLD_CLOCKS = 16    /* each is twice as long as the one before */
};

#define DH_SLOTS_MAX 65535u

/* Indices are taken modulo these, or by a mask or a shift. */
#define DH_IS_POWER_OF_2(n) ((n) > 0 && ((n) & ((n) - 1)) == 0)
_Static_assert(DH_IS_POWER_OF_2(DH_IDC) && DH_IS_POWER_OF_2(DH_IDC_WAYS) && DH_IDC > DH_IDC_WAYS, "idc");
_Static_assert(DH_IS_POWER_OF_2(DH_ORDERED) && DH_IS_POWER_OF_2(DH_MINE) && DH_IS_POWER_OF_2(DH_STEP),
               "cells");
_Static_assert(DH_IS_POWER_OF_2(DH_CTXC) && DH_CTXC <= 1 << 24, "ctxc_at has 24 bits of a hash");
_Static_assert(8u << DH_OLD_CLOCKS > DH_SLOTS_MAX, "a clock of the shortest length doubles no oftener");
_Static_assert(DH_IS_POWER_OF_2(DH_LSC) && DH_IS_POWER_OF_2(DH_SEEN) && DH_IS_POWER_OF_2(DH_LATELY),
               "others");

/* The regions a kernel thread is in (lard.h), as they stand in struct dh_thread. */
struct dh_regions {
    u32 depth[4];
};

struct dh_sync; /* sync.h */

struct dh_held {
    uptr lock;
    const void *pc; /* where it was taken, if that is not interned yet; NULL: ctx has it */
    u32 ctx;        /* of the call; with pc, of the function that made it */
    u32 levels;     /* recursion */
    u32 flags;      /* DH_LOCK_* */
};

enum dh_thread_state { DH_THREAD_NEW, DH_THREAD_RUNNING, DH_THREAD_FINISHED };

struct dh_thread {
    /* Owner only, but for the fields marked otherwise. */
    u32 uid;
    u32 slot;
    u32 class;                   /* slot % DH_READ_CLASSES: whose read plane */
    u32 marks_read, marks_write; /* touched.h */
    union {
        struct {
            volatile u32 in_rt; /* nesting of the runtime; read by the collector and the signal trampoline */
            u32 untracked;      /* lard.h: nesting of regions whose accesses are not looked at */
        };
        volatile u64 closed; /* both at once: no access gets in */
    };
    u32 unordered; /* lard.h: nesting of regions whose synchronisation orders nothing */
    /* The same two where a recording keeps what is done in them (lard_system): it goes on and is marked. */
    u32 system_access, system_order;
    bool language;    /* a function of lard.h is at work, and speaks for the program */
    volatile u32 gen; /* last collector generation seen; read by the collector */
    bool alone;       /* alone.h */
    bool unsampled;   /* outside a sampling period: period.h */
    bool changed;     /* clock learned something in this epoch */
    bool want_collect;
    bool want_raise;      /* exception.c */
    bool recorded;        /* it has had ids: the tables of cells may be in use */
    struct dh_vclock vc;  /* grown by the owner; read by the collector under DH_RANK_THREADS */
    struct dh_snap *snap; /* copy of vc but for the own component; NULL: stale */

    u32 held_n;
    u32 held_gen; /* rises with every change of held */
    u32 lockset;  /* of held, valid if lockset_gen == held_gen */
    u32 lockset_gen;
    u32 stamp; /* rises with every epoch, every run of ids taken, and every change of held: ids in idc are
                * good for one value of it */

    bool carried;            /* a language-level thread: no kernel thread was started as it */
    bool stackless;          /* it was seen running on its kernel thread's stack */
    struct dh_frame *frames; /* the shadow call stack */
    size_t frames_n;
    /* Of a language-level thread (lard.h): the shadow call stack that goes with its own stack. NULL: it has
     * none yet, and runs on that of its kernel thread. */
    struct dh_frame *own_frames;
    struct dh_hot saved; /* the hot state while the kernel thread runs as another */

    /* Ids: plain ones are consecutive within an epoch (hot.base, id_made), special ones (atomic, free)
     * must not be hit by the inlined check and come from blocks of their own. */
    u32 id_next, id_end, id_first, id_size, id_made;
    /* Plain ids from id_next up to ready_end need no more than a record like this one, as long as the stamp
     * is ready_stamp (dh_step_id). */
    u32 ready_stamp, ready_end;
    struct dh_id_rec ready;
    u32 special_next, special_end, special_first, special_size;
    u32 special_floor; /* first special id of this epoch */
    u32 saying;        /* rises with every epoch and with all that is learned; never 0 */

    u32 pending_n;
    u32 parts_n; /* accesses that came to wait since none did */
    u64 work;    /* calls that would be made sampled or not (period.h); read by the controller */

    /* Fences (C11 7.17.4): what a relaxed store publishes, what an acquire fence will take in. */
    struct dh_publish fence_release;
    struct dh_publish fence_acquire;

    /* Addresses lately synchronised on (order.c): the object found there, and its version when all that it
     * publishes was known. As long as it has that version it is the object of addr, and there is nothing to
     * learn from it. */
    struct dh_lately {
        uptr addr;
        struct dh_sync *object;
        u32 version; /* DH_LATELY_NOT_ALL: nothing is known but where it was */
        u32 said;    /* the value of `saying` when it published what this thread would; 0: it did not */
    } lately[DH_LATELY];
    u16 pins[DH_PINS]; /* held.c */

    /* From here to ordered: kept when the structure is used for another thread, as far as it is (state_new).
     */
    struct dh_sig_state sig; /* signal.c */
    u32 offset;              /* of this structure in its memory */
    bool seen_any;           /* anything is in `seen` */

    /* Atomic objects lately used (atomic.c): the version at which all that the object publishes was taken in,
     * and what the cells became when an access was last recorded. */
    struct dh_seen {
        uptr addr;
        struct dh_sync *object; /* found there, if it still has the address */
        const u32 *chains;      /* dh_sync_chains */
        u32 absent;             /* its value when no object was found; odd: unknown */
        u32 version;
        bool acquired; /* by an acquire; else only for a later fence */
        struct dh_done {
            u32 clock, gen; /* the epoch; the collector's generation */
            u32 size;       /* 0: nothing is known */
            u64 cells;
            /* By plane: cells with which no atomic access of this thread races. */
            u64 harmless[DH_PLANES];
            u32 harmless_gen;
            /* Looked at in this pause between sampling periods (0: in none), after so many moves
             * (engine/unsampled.h). */
            u32 pause, pause_moves, pause_size;
        } done[2]; /* reads, writes */
    } seen[DH_SEEN];

    struct dh_held held[DH_HELD_MAX];
    struct dh_idc {
        u64 pc_kind;
        u32 fctx, stamp, id, ctx;
    } idc[DH_IDC];
    struct dh_ctxc {
        u32 parent, ctx;
        const void *pc;
    } ctxc[DH_CTXC];
    struct {
        uptr lock;
        u32 set, ctx, result, read;
    } lsc[DH_LSC];
    u32 ordered[DH_ORDERED];
    struct {
        u32 cell, base;
    } mine[DH_MINE];
    struct {
        u32 old, me, result, plane;
    } step[DH_STEP];

    struct dh_pending {
        u64 where; /* address of the first word; bit 0: there are two; byte mask from DH_PENDING_MASK on */
        u32 seen, id;
    } pending[DH_PENDING];
    struct dh_part {
        uptr word; /* 0: none */
        u32 id;
        u16 mask, again;
    } parts[DH_PARTS][2]; /* reads, writes */

    u32 splits[DH_SPARE_SPLITS]; /* split.c */
    u32 splits_n;
    u64 mixtures;        /* words whose bytes differ that were made: dh_split_pressure */
    int mixing;          /* step.c */
    u64 rules[DH_RULES]; /* rules.h; read by whoever adds them up */

    void *tap; /* what the recorder or the laboratory keeps for it */

    /* Under DH_RANK_THREADS. */
    struct dh_thread *next, *prev; /* of all that are not freed */
    enum dh_thread_state state;
    bool joined_or_detached;
    struct dh_thread *joining; /* it waits for the end of that one; NULL: it does not */
    u32 final_clock;
    unsigned long pthread;          /* 0: unknown */
    struct dh_hot *hot;             /* the kernel thread's, while there is one of its own */
    u32 *old_clocks[DH_OLD_CLOCKS]; /* arrays vc grew out of, freed with the thread */
    u32 old_caps[DH_OLD_CLOCKS];
    u32 old_n;
    struct dh_publish birth; /* the creator's clock, taken in by dh_thread_start */
    struct dh_publish death; /* the clock at the end, taken in by dh_thread_join */
};

/* Facts for reports, kept for every thread that ever lived. Under DH_RANK_THREADS. */
struct dh_thread_info {
    u32 uid;
    u32 parent;
    u32 created_at; /* context */
    int tid;
    uptr stack_lo, stack_hi;
    uptr tls_lo, tls_hi;
    char name[16];
    bool alive;
    bool reported;           /* report.c has written its line */
    bool carried, stackless; /* as in struct dh_thread */
};

extern struct dh_lock dh_threads_lock;
extern struct dh_thread *dh_threads; /* under dh_threads_lock */
extern volatile u32 dh_collect_gen;  /* collect.c */

void dh_thread_init_main(void);
struct dh_thread_info *dh_thread_info(u32 uid); /* NULL: unknown. Under dh_threads_lock. */
u32 dh_thread_uids(void);                       /* one past the highest uid. Under dh_threads_lock. */
/* Empty the tables that remember cells: after a collection, and at the start. */
void dh_thread_forget_cells(struct dh_thread *t);
/* Does t wait for the end of a thread that still runs, and can do nothing before? Under dh_threads_lock. */
bool dh_thread_will_know(const struct dh_thread *t);
/* Is t the only thread, and does it know the end of every other one? */
bool dh_thread_outlived_all(const struct dh_thread *t);
/* Forked child: only `self` is left. */
void dh_thread_fork_child(struct dh_thread *self);

/* The context of frame `top`, computing and caching what is missing below it. */
u32 dh_thread_frame_ctx(struct dh_thread *t, struct dh_frame *top);
/* Of a call; of what ends a stack (dh_ctx_leaf). */
u32 dh_thread_ctx(struct dh_thread *t, u32 parent, const void *pc);
u32 dh_thread_leaf(struct dh_thread *t, u32 parent, const void *pc);
u32 dh_thread_lockset(struct dh_thread *t);

/* ---- Memory of thread states (thread_state.c) ---- */

/* Under dh_threads_lock; NULL: no memory. */
struct dh_thread *dh_thread_state_new(void);
/* Give up what t holds, and keep its memory for another if there is room. It is in no list any more. Under
 * dh_threads_lock. */
void dh_thread_state_free(struct dh_thread *t);
/* Its memory only, of one that was never begun. May be NULL. */
void dh_thread_state_release(struct dh_thread *t);

/* ---- Clock operations of the owner (order.c) ---- */
void dh_thread_acquire(struct dh_thread *t, const struct dh_publish *p);
/* *p := the thread's clock (join: what p had stays in it); then the epoch ends. */
void dh_thread_release(struct dh_thread *t, struct dh_publish *p, bool join);
/* Start a new epoch if this one recorded anything. */
void dh_thread_end_epoch(struct dh_thread *t);
/* One entry: what it would publish of it now; raise it. The own one is not raised. */
u32 dh_thread_read_clock(const struct dh_thread *t, u32 slot);
void dh_thread_write_clock(struct dh_thread *t, u32 slot, u64 time);

/* ---- Regions: they are the kernel thread's, whichever thread it is ---- */

_Static_assert(offsetof(struct dh_thread, system_order) - offsetof(struct dh_thread, untracked) ==
                   3 * sizeof(u32),
               "struct dh_regions");

DH_INLINE struct dh_regions dh_regions_of(const struct dh_thread *t)
{
    struct dh_regions r;
    __builtin_memcpy(&r, &t->untracked, sizeof(r));
    return r;
}

DH_INLINE void dh_regions_set(struct dh_thread *t, struct dh_regions r)
{
    __builtin_memcpy(&t->untracked, &r, sizeof(r));
}

/* ---- What inlined code sees of a thread ---- */

/* Nothing is recorded while it is alone or outside a sampling period. */
DH_INLINE bool dh_thread_records(const struct dh_thread *t)
{
    return !t->alone && !t->unsampled;
}

/* Outside a sampling period reads are looked for where writes are. */
DH_INLINE u64 dh_thread_read_flip(const struct dh_thread *t)
{
    return t->unsampled ? DH_WRITE_FLIP : DH_READ_FLIP(t->class);
}

/* What hits from now on: everything if it is alone, empty cells outside a sampling period, else the ids that
 * follow. */
DH_INLINE void dh_thread_set_hot(const struct dh_thread *t, struct dh_hot *hot)
{
    hot->base = dh_thread_records(t) ? dh_cell_make(t->id_next, DH_MASK_FULL) : 0;
    /* No cell is farther away than ~0. Two that are or-ed together may be, and then the slow path returns. */
    hot->span = t->alone ? ~0u : t->unsampled ? 1 : t->id_end - t->id_next;
    hot->read_flip = dh_thread_read_flip(t);
}

/* ---- In and out of the runtime on the hot side; scope.c does the same for interceptors ---- */
void dh_thread_leave_slow(struct dh_thread *t); /* collects, raises races, delivers signals */

/* For assertions, of the calling thread inside the runtime: its ids are its own and in order, hot.base and
 * hot.span are what they were made from, its frames, locks and spare records are within bounds. In the
 * checked runtime only (sound.c). */
bool dh_thread_is_sound(const struct dh_thread *t);

/* For what must be seen in untracked regions too. */
DH_INLINE bool dh_thread_enter_any(struct dh_thread *t)
{
    if (DH_UNLIKELY(t->in_rt))
        return false;
    t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(t->gen != dh_collect_gen))
        dh_thread_forget_cells(t);
    return true;
}

/* For accesses. */
DH_INLINE bool dh_thread_enter(struct dh_thread *t)
{
    return DH_LIKELY(t->closed == 0) && dh_thread_enter_any(t);
}

DH_INLINE void dh_thread_leave(struct dh_thread *t)
{
    DH_ASSERT(t->in_rt && dh_thread_is_sound(t));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->in_rt = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(t->sig.pending || t->want_collect || t->want_raise))
        dh_thread_leave_slow(t);
}

#endif
