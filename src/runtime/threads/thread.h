/*
 * thread.h - logical threads.
 *
 * A logical thread is a stream of events with a vector clock. Usually it is one kernel thread; with fibers a
 * kernel thread switches between several (dh_thread_switch). struct dh_thread is the working state of a live
 * thread; struct dh_thread_info is what reports need even after its end.
 */
#ifndef DH_RUNTIME_THREADS_THREAD_H
#define DH_RUNTIME_THREADS_THREAD_H

#include "base/lock.h"
#include "clock/vclock.h"
#include "runtime/abi/abi.h"
#include "runtime/engine/state.h"
#include "runtime/runtime.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/state.h"
#include "runtime/threads/signal.h"

/* Sizes of the per-thread tables: powers of two; the part in use should fit the near caches. */
enum {
    DH_CTXC = 4096,    /* (parent, pc) to context */
    DH_LSC = 128,      /* (set, lock, ctx) to lockset */
    DH_LATELY = 16,    /* addresses recently synchronised on */
    DH_TAUGHT = 64,    /* acquisitions from other threads, for reports */
    DH_PINS = 8,       /* held.h */
    DH_HELD_MAX = 128, /* locks that a report can name; further ones only create ordering */
    DH_OLD_CLOCKS = 16 /* each is twice as long as the one before */
};

#define DH_SLOTS_MAX 65535u

_Static_assert(DH_IS_POWER_OF_2(DH_CTXC) && DH_CTXC <= 1 << 24, "ctxc_at has 24 bits of a hash");
_Static_assert(8u << DH_OLD_CLOCKS > DH_SLOTS_MAX, "a clock of the shortest length doubles no oftener");
_Static_assert(DH_IS_POWER_OF_2(DH_LSC) && DH_IS_POWER_OF_2(DH_LATELY), "others");

/* The regions a kernel thread is in (lard.h), as they stand in struct dh_thread. */
struct dh_regions {
    u32 depth[4];
};

/* A lock that is held (order.c). */
struct dh_held {
    uptr lock;
    const void *pc; /* where it was taken, if not interned yet; NULL: it is in ctx */
    dh_ctx_t ctx;   /* of the call; with pc, of the function that made it */
    u32 levels;     /* recursion */
    u32 flags;      /* DH_LOCK_* */
};

/* How many are held, in struct dh_thread.held, and the set of them. */
struct dh_held_set {
    u32 n;
    u32 gen;          /* rises with every change */
    dh_lockset_t set; /* valid if set_gen == gen */
    u32 set_gen;
};

/* An address recently synchronised on (order.c): the object found there, and its version when the thread knew
 * all that it publishes. As long as it has that version it is the object of addr, and there is nothing to
 * acquire from it. */
struct dh_lately {
    uptr addr;
    struct dh_sync *object;
    u32 version; /* DH_LATELY_NOT_ALL: only its address is known */
    u32 said;    /* the value of `saying` when it had just what this thread would publish; 0: none */
};

/* The thread acquired from the object at addr what another thread did after its clock `before` and up to
 * `clock`. Only reports read it (report/discipline.c). */
struct dh_taught {
    uptr addr;
    u32 epoch; /* of the acquiring thread */
    dh_slot_t slot;
    u32 before, clock;
};

/* Recently looked up contexts and locksets (thread.c, order.c); valid for any thread, forever. */
struct dh_ctxc {
    dh_ctx_t parent, ctx;
    const void *pc;
};
struct dh_lsc {
    uptr lock;
    dh_lockset_t set;
    dh_ctx_t ctx;
    dh_lockset_t result; /* empty: unused entry */
    u32 read;
};

/* Arrays that a clock outgrew. The collector may be reading one, so they are freed with the thread. */
struct dh_old_clocks {
    u32 *c[DH_OLD_CLOCKS];
    u32 cap[DH_OLD_CLOCKS];
    u32 n;
};

enum dh_thread_state { DH_THREAD_NEW, DH_THREAD_RUNNING, DH_THREAD_FINISHED };

/*
 * What each directory keeps here is declared there: engine/state.h, shadow/state.h, threads/signal.h. Fields
 * are in order of use: what every miss and every lock needs is together at the beginning.
 */
struct dh_thread { /* NOLINT(clang-analyzer-optin.performance.Padding): the order of use */
    /* Owner only, except for the fields marked otherwise. */
    dh_uid_t uid;
    dh_slot_t slot;
    u32 class;                   /* dh_thread_class(slot): whose read plane */
    u32 marks_read, marks_write; /* shadow/touched.h */
    /* Whether its read plane is its own (engine/pending.h). */
    bool sole; /* no other running thread has this class; atomic, written under DH_RANK_THREADS */
    bool heir; /* an ended thread had it, and not all of its accesses are known to have happened before */
    union {
        struct {
            volatile u32 in_rt; /* nesting of the runtime; read by the collector and the signal trampoline */
            u32 untracked;      /* lard.h: nesting of regions whose accesses are ignored */
        };
        volatile u64 closed; /* both at once: non-zero if no access may enter */
    };
    u32 unordered; /* lard.h: nesting of regions whose synchronisation is ignored */
    /* The same two when a recording keeps what is done in them, marked as such (lard_system). */
    u32 system_access, system_order;
    bool language;        /* a function of lard.h is running, on behalf of the program */
    volatile u32 gen;     /* last collector generation seen; read by the collector */
    bool alone;           /* alone.h */
    bool unsampled;       /* outside a sampling period: period.h */
    bool changed;         /* the clock acquired something in this epoch */
    bool want_collect;    /* set by step.c and split.c, read on leaving the runtime */
    bool want_raise;      /* set by exception.c, likewise */
    bool recorded;        /* it has taken ids: the cell tables may be in use */
    struct dh_vclock vc;  /* grown by the owner; read by the collector under DH_RANK_THREADS */
    struct dh_snap *snap; /* copy of vc except for its own component; NULL: stale */

    struct dh_held_set locks;
    u32 stamp; /* incremented with every epoch, every run of ids taken, and every change of held: ids in idc
                * are valid for one value of it */

    bool carried;            /* a language-level thread: no kernel thread was started as it */
    bool stackless;          /* it was seen running on its kernel thread's stack */
    struct dh_frame *frames; /* the shadow call stack */
    size_t frames_n;
    /* For a language-level thread (lard.h): the shadow call stack that belongs to its own stack. NULL: it has
     * none yet, and uses that of its kernel thread. */
    struct dh_frame *own_frames;
    struct dh_hot saved; /* the hot state while the kernel thread runs as another */

    struct dh_idc_table idcs;
    struct dh_id_source ids;
    u32 saying; /* incremented with every epoch and every acquisition; never 0 */
    u64 work;   /* calls that are made whether sampled or not (period.h); read by the controller */
    struct dh_pending_list pending;
    struct dh_part_list parts;
    struct dh_fences fences;
    struct dh_lately lately[DH_LATELY];
    u32 n_taught;      /* ever */
    u16 pins[DH_PINS]; /* held.c */

    /* From here to memo: partly kept when the structure is reused for another thread (state_new). */
    struct dh_sig_state sig;
    u32 offset; /* of this structure in its memory */
    struct dh_atomic_memo atomics;
    struct dh_held held[DH_HELD_MAX];
    struct dh_taught taught[DH_TAUGHT]; /* number n is at n % DH_TAUGHT */
    struct dh_idc idc[DH_IDC];          /* the first of idcs */
    struct dh_ctxc ctxc[DH_CTXC];
    struct dh_lsc lsc[DH_LSC];

    struct dh_cell_memo memo;
    struct dh_spare_splits splits;
    u64 mixtures;        /* cells created for words whose bytes differ: dh_split_pressure */
    u64 mixtures_before; /* the same at the start of its current epoch */
    int mixing;          /* engine/step.c */
    u64 rules[DH_RULES]; /* engine/rules.h; also read to add them up */

    void *tap; /* per-thread state of the recorder or the laboratory */

    /* Under DH_RANK_THREADS. */
    struct dh_thread *next, *prev; /* list of all that are not freed */
    enum dh_thread_state state;
    bool joined_or_detached;
    struct dh_thread *joining; /* it is waiting to join that one; NULL: it is not */
    u32 final_clock;
    unsigned long pthread;           /* 0: unknown */
    struct dh_hot *hot;              /* the kernel thread's, while it has one of its own */
    struct dh_old_clocks old_clocks; /* added to by the owner, freed with the thread */
    struct dh_publish birth;         /* the creator's clock, acquired by dh_thread_start */
    struct dh_publish death;         /* the clock at the end, acquired by dh_thread_join */
};

/* Facts for reports, kept for every thread that ever lived. Under DH_RANK_THREADS. */
struct dh_thread_info {
    dh_uid_t uid;
    dh_uid_t parent;     /* none: the first thread */
    dh_ctx_t created_at; /* context */
    int tid;
    uptr stack_lo, stack_hi;
    uptr tls_lo, tls_hi;
    uptr tp; /* thread pointer */
    char name[16];
    bool alive;
    bool reported;           /* report.c has written its line */
    bool carried, stackless; /* as in struct dh_thread */
};

extern struct dh_lock dh_threads_lock;
extern struct dh_thread *dh_threads; /* under dh_threads_lock */
extern volatile u32 dh_collect_gen;  /* collect.c */

void dh_thread_init_main(void);
struct dh_thread_info *dh_thread_info(dh_uid_t uid); /* NULL: unknown. Under dh_threads_lock. */
u32 dh_thread_uids(void);                            /* one past the highest uid. Under dh_threads_lock. */
/* Empty the tables that remember cells: after a collection, and at the start. */
void dh_thread_forget_cells(struct dh_thread *t);
/* The last epoch of an ended thread, for the thread that joins it. */
u32 dh_thread_last_epoch(const struct dh_thread *t);
/* Is t blocked until a thread that is still running ends? Under dh_threads_lock. */
bool dh_thread_will_know(const struct dh_thread *t);
/* Is t the only thread, and did the end of every other one happen before? */
bool dh_thread_outlived_all(const struct dh_thread *t);
/* Forked child: only `self` is left. */
void dh_thread_fork_child(struct dh_thread *self);

/* The context of frame `top`, computing and caching what is missing below it. */
dh_ctx_t dh_thread_frame_ctx(struct dh_thread *t, struct dh_frame *top);
/* The context of a call; of the end of a stack (dh_ctx_leaf). */
dh_ctx_t dh_thread_ctx(struct dh_thread *t, dh_ctx_t parent, const void *pc);
dh_ctx_t dh_thread_leaf(struct dh_thread *t, dh_ctx_t parent, const void *pc);
dh_lockset_t dh_thread_lockset(struct dh_thread *t);

/* ---- Memory of thread states (thread_state.c) ---- */

/* Under dh_threads_lock; NULL: no memory. */
struct dh_thread *dh_thread_state_new(void);
/* Release what t holds, and keep its memory for another thread if there is room. t is no longer in any list.
 * Under dh_threads_lock. */
void dh_thread_state_free(struct dh_thread *t);
/* Release only the memory, for a thread that was never started. May be NULL. */
void dh_thread_state_release(struct dh_thread *t);

/* ---- Clock operations of the owner (order.c) ---- */

/* Its current epoch: its own component of its clock. */
DH_INLINE u32 dh_thread_epoch(const struct dh_thread *t)
{
    return *dh_vclock_at(&t->vc, t->slot);
}

/* The class of threads that has this slot. */
DH_INLINE u32 dh_thread_class(dh_slot_t slot)
{
    return dh_slot_raw(slot) % DH_READ_CLASSES;
}

void dh_thread_acquire(struct dh_thread *t, const struct dh_publish *p);
/* *p := the thread's clock (join: joined with what *p had); then the epoch ends. */
void dh_thread_release(struct dh_thread *t, struct dh_publish *p, bool join);
/* `to` acquires the clock of `from`, whose epoch ends. */
void dh_thread_hand_over(struct dh_thread *from, struct dh_thread *to);
/* Start a new epoch if this one recorded anything. */
void dh_thread_end_epoch(struct dh_thread *t);
/* One clock entry: the value it would publish now; and raising it. Its own entry is not raised. */
u32 dh_thread_read_clock(const struct dh_thread *t, dh_slot_t slot);
void dh_thread_write_clock(struct dh_thread *t, dh_slot_t slot, u64 time);

/* ---- Edges on an address (order.c): what the engine does about the events of sink/sink.h ---- */

/* read: include what was published by releasing read locks. */
void dh_order_take_in(struct dh_thread *t, uptr addr, bool read);
/* join: keep what was published there before. */
void dh_order_give_out(struct dh_thread *t, uptr addr, bool join);
/* The same for a lock that t holds, as a reader or exclusively. */
void dh_order_give_out_lock(struct dh_thread *t, uptr lock, bool read);

/* ---- Regions: they belong to the kernel thread, whichever thread it runs as ---- */

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

/* Outside a sampling period reads check the write plane. */
DH_INLINE u64 dh_thread_read_flip(const struct dh_thread *t)
{
    return t->unsampled ? DH_WRITE_FLIP : DH_READ_FLIP(t->class);
}

/* The span of a settled thread (period.h): everything hits, as if it were alone. A distinct value, so that
 * code that changes it cannot confuse the two states. */
#define DH_SPAN_SETTLED (~0u - 1)

/* Set what hits from now on: everything if it is alone, empty cells outside a sampling period, else the ids
 * to come. */
DH_INLINE void dh_thread_set_hot(const struct dh_thread *t, struct dh_hot *hot)
{
    hot->base = dh_thread_records(t) ? dh_cell_base(t->ids.plain.next) : 0;
    hot->bases = (u64)hot->base << 32 | hot->base;
    /* No cell's distance exceeds ~0. Two or-ed together may miss, and then the slow path just returns. */
    hot->span = t->alone ? ~0u : t->unsampled ? 1 : dh_id_count(t->ids.plain.next, t->ids.plain.end);
    hot->read_flip = dh_thread_read_flip(t);
}

/* ---- In and out of the runtime on the hot side; scope.c does the same for interceptors ---- */
void dh_thread_leave_slow(struct dh_thread *t); /* collects, raises races, delivers signals */

/* For assertions, of the calling thread inside the runtime: its ids are its own and in order, hot.base and
 * hot.span are what they were made from, its frames, locks and spare records are within bounds. In the
 * checked runtime only (sound.c). */
bool dh_thread_is_sound(const struct dh_thread *t);

/* For what must be handled in untracked regions too. */
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
