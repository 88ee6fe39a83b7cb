/*
 * record.c - the recorder: writes every event of the program to memory shared with `deadheat record`
 * (event/dht_feed.h).
 *
 * Each thread encodes into a slot of its own, without locks. Threads are ordered by tickets: every
 * synchronisation event takes one from a global counter while the program's own synchronisation keeps others
 * out (sink/tap.h says when each is called); accesses take none. Memory that changes owners takes tickets
 * too: otherwise a reader could put the accesses to a block before those of its former owner.
 *
 * Every event carries the number of its calling context. Each context is described once, in tables of the
 * shared memory, as is each thread.
 *
 * The descriptor of the shared memory is used once and closed, so that nothing the program does with
 * descriptors can disturb a recording. Only the first process that claims the memory is recorded; its forked
 * children are not, nor are programs that it starts or executes: those inherit the options, find no such
 * memory, and run unrecorded and unchecked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pool.h"
#include "base/sys.h"
#include "event/dht_code.h"
#include "event/dht_feed.h"
#include "runtime/init.h"
#include "runtime/report/modules.h"
#include "runtime/report/place.h"
#include "runtime/sink/stacks.h"
#include "runtime/sink/tap.h"
#include "runtime/threads/plain.h"
#include "runtime/threads/thread.h"

struct stream {
    struct dh_feed_slot *slot; /* NULL: recording has stopped */
    u8 *data;
    u32 thread;
    u32 number; /* of the next chunk */
    u32 ctx;    /* of the last event, already described */
    struct dh_dht_encoder code;
};

static struct dh_feed_layout *arena;
static bool stopped; /* for good: no space, or the recorder is gone */

/* In a cache line of its own: the one word all threads share. */
static struct {
    u64 next;
    u8 pad[56];
} tickets __attribute__((aligned(64)));

/* Events that belong to no thread. Under `lock`. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_TAP);
static struct stream *nobody;

static void futex_wait(u32 *word, u32 value)
{
    struct timespec limit = {.tv_nsec = 100 * 1000 * 1000}; /* the other side may have been killed */
    dh_sys6(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&limit, 0, 0);
}

static void futex_wake(u32 *word)
{
    dh_sys6(SYS_futex, (long)word, FUTEX_WAKE, 1 << 30, 0, 0, 0);
}

static void stop(const char *why)
{
    if (!__atomic_exchange_n(&stopped, true, __ATOMIC_SEQ_CST))
        dh_sys_say(why);
}

static bool too_far_ahead(void)
{
    return __atomic_load_n(&arena->head.full, __ATOMIC_ACQUIRE) -
               __atomic_load_n(&arena->head.freed, __ATOMIC_ACQUIRE) >
           DH_FEED_AHEAD;
}

/* Sleep until the recorder frees a slot. False: it never will. */
static bool wait_for_recorder(void)
{
    u32 freed = __atomic_load_n(&arena->head.freed, __ATOMIC_ACQUIRE);
    __atomic_store_n(&arena->head.program_sleeps, 1, __ATOMIC_SEQ_CST);
    if (dh_sys3(SYS_kill, (long)arena->head.recorder, 0, 0) == -ESRCH) {
        stop("the recorder is gone; recording stops here, the program continues");
        return false;
    }
    futex_wait(&arena->head.freed, freed);
    return true;
}

static struct dh_feed_slot *take_slot(void)
{
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
        for (u32 i = 0; i < DH_FEED_SLOTS && !too_far_ahead(); i++) {
            u32 free = DH_FEED_FREE;
            if (__atomic_load_n(&arena->slots[i].state, __ATOMIC_RELAXED) == DH_FEED_FREE &&
                __atomic_compare_exchange_n(&arena->slots[i].state, &free, DH_FEED_ACTIVE, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
                dh_stacks_raise(&arena->head.high, i + 1);
                return &arena->slots[i];
            }
        }
        wait_for_recorder();
    }
    return NULL;
}

static void give_slot(struct dh_feed_slot *slot)
{
    __atomic_store_n(&slot->state, DH_FEED_FULL, __ATOMIC_RELEASE);
    __atomic_fetch_add(&arena->head.full, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&arena->head.recorder_sleeps, __ATOMIC_SEQ_CST))
        futex_wake(&arena->head.full);
}

/* ---- Streams ---- */

static void chunk_begin(struct stream *s)
{
    s->slot = take_slot();
    if (!s->slot)
        return;
    s->data = arena->data[s->slot - arena->slots];
    s->slot->type = DH_DHT_EVENTS;
    s->slot->thread = s->thread;
    s->slot->number = s->number++;
    s->slot->first = DH_DHT_NO_TICKET;
    s->slot->calls = 0;
    __atomic_store_n(&s->slot->used, 0, __ATOMIC_RELEASE);
    dh_dht_encode_begin(&s->code, s->data, DH_DHT_CHUNK_BYTES);
}

/* Publish what is encoded so far: it survives if the program is killed now. No event is published before its
 * context. */
DH_INLINE void publish(struct stream *s)
{
    __atomic_store_n(&s->slot->calls, (u32)(s->code.top - s->code.end), __ATOMIC_RELEASE);
    __atomic_store_n(&s->slot->used, (u32)(s->code.at - s->data), __ATOMIC_RELEASE);
}

static void chunk_end(struct stream *s)
{
    if (!s->slot)
        return;
    dh_dht_encode_flush(&s->code);
    publish(s);
    s->slot->type = dh_dht_encode_type(&s->code);
    s->slot->events = s->code.events;
    s->slot->first = s->code.first;
    give_slot(s->slot);
    s->slot = NULL;
}

static struct stream *stream_new(u32 thread)
{
    if (__atomic_load_n(&stopped, __ATOMIC_RELAXED))
        return NULL;
    struct stream *s = dh_pool_alloc(sizeof(*s));
    if (!s) {
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        stop("no memory for recording; it stops here, the program continues");
        return NULL;
    }
    s->thread = thread;
    s->code.places = &arena->places;
    chunk_begin(s);
    return s;
}

/* Make room for one more event. False: recording has stopped. */
DH_INLINE bool ready(struct stream *s)
{
    if (DH_UNLIKELY(!s || !s->slot))
        return false;
    if (DH_UNLIKELY(!dh_dht_encode_fits(&s->code))) {
        chunk_end(s);
        chunk_begin(s);
    }
    return s->slot != NULL;
}

/* An event that has a ticket or a length. */
static void put(struct stream *s, struct dh_dht_event *e)
{
    u32 operands = dh_dht_operands(e->op);
    if (!ready(s))
        return;
    if (!e->pc)
        e->ctx = s->code.calls.ctx; /* its place is unknown: use the context that takes no space */
    if (operands & DH_DHT_HAS_TICKET)
        e->ticket = __atomic_fetch_add(&tickets.next, 1, __ATOMIC_SEQ_CST);
    dh_dht_encode_slow(&s->code, e, operands);
    publish(s);
}

/* ---- Marks (event/dht_code.h) ---- */

static u32 access_mark(const struct dh_thread *t)
{
    return t->language ? DH_DHT_LANGUAGE : t->system_access ? DH_DHT_SYSTEM : 0;
}

static u32 order_mark(const struct dh_thread *t)
{
    return t->system_order ? DH_DHT_SYSTEM : 0;
}

static u32 memory_mark(const struct dh_thread *t)
{
    return t && t->language ? DH_DHT_LANGUAGE : 0;
}

static u64 here(const struct dh_thread *t)
{
    return (u64)dh_tap_pc(t, NULL);
}

/* The number of a context of t, describing it now if it has not been yet. */
DH_INLINE u32 told(struct stream *s, dh_ctx_t ctx)
{
    if (DH_UNLIKELY(dh_ctx_raw(ctx) != s->ctx))
        s->ctx = dh_stacks_tell(arena, ctx);
    return s->ctx;
}

DH_INLINE u32 access_calls(struct dh_thread *t)
{
    return t->tap && __dh_hot.self == t ? told(t->tap, dh_stacks_of_access(t)) : 0;
}

/* t may be NULL. */
static u32 calls(struct dh_thread *t)
{
    return t && t->tap && __dh_hot.self == t ? told(t->tap, dh_stacks_of_call(t)) : 0;
}

/* ---- The tap ---- */

/* Is pc in uninstrumented code? */
static bool is_plain(uptr pc)
{
    return dh_plain_may((const void *)pc) && dh_modules_is_plain(pc);
}

/* The use of a lock. That of its own locks by uninstrumented code is left out: a recording does not say which
 * accesses such code made, so what it stored there would be reported (dh_engine_excuses). */
static void record_check(struct dh_thread *t, const struct dh_tap_access *a)
{
    struct dh_dht_event e = {.pc = here(t),
                             .addr = a->addr,
                             .ctx = access_calls(t),
                             .size = (u32)a->size,
                             .op = DH_DHT_OP_CHECK,
                             .mode = (u8)(a->kind | access_mark(t))};
    if (!is_plain((uptr)e.pc))
        put(t->tap, &e);
}

static void record_access(struct dh_thread *t, const struct dh_tap_access *a)
{
    struct stream *s = t->tap;
    if (a->kind & DH_UNKEPT) {
        record_check(t, a);
        return;
    }
    bool write = (a->kind & DH_WRITE) != 0;
    u32 mode = a->kind | access_mark(t);
    if (a->piece || (a->kind & DH_RANGE) || a->size > 64) {
        struct dh_dht_event e = {.pc = (u64)dh_tap_pc(t, a->pc),
                                 .addr = a->addr,
                                 .bytes = a->size,
                                 .ctx = access_calls(t),
                                 .size = a->piece,
                                 .op = write ? DH_DHT_OP_WRITES : DH_DHT_OP_READS,
                                 .mode = (u8)mode};
        put(s, &e);
        return;
    }
    if (!ready(s))
        return;
    const u8 *at = s->code.at, *end = s->code.end;
    dh_dht_encode_access(&s->code, a->addr, (u32)a->size, write ? DH_OP_WRITE : DH_OP_READ, mode,
                         a->pc ? (u64)a->pc : here(t), access_calls(t));
    if (s->code.at != at || s->code.end != end)
        publish(s);
}

static void record_sync(struct dh_thread *t, u32 op, u32 mode, uptr object)
{
    if (t->unordered && (op == DH_OP_NOTIFY || op == DH_OP_WAIT)) /* taps get these from any region */
        return;
    struct dh_dht_event e = {
        .pc = here(t), .addr = object, .ctx = calls(t), .op = (u8)op, .mode = (u8)(mode | order_mark(t))};
    put(t->tap, &e);
}

static void record_foreign(struct dh_thread *t, uptr object)
{
    record_sync(t, DH_DHT_OP_RELEASE_FOREIGN, 0, object);
}

static void record_atomic(struct dh_thread *t, u32 op, u32 order, const struct dh_tap_access *a)
{
    struct dh_dht_event e = {.pc = (u64)dh_tap_pc(t, a->pc),
                             .addr = a->addr,
                             .ctx = access_calls(t),
                             .size = (u32)a->size,
                             .op = (u8)op,
                             .mode = (u8)(order | order_mark(t) | (t->system_access ? DH_DHT_LANGUAGE : 0))};
    put(t->tap, &e);
}

struct frames {
    struct stream *to;
    u32 ctx, n;
};

static bool put_frame(void *ctx, const struct dh_place_frame *f)
{
    struct frames *all = ctx;
    struct dh_dht_event e = {.pc = f->pc,
                             .addr = f->sp,
                             .bytes = f->cfa - f->sp,
                             .source = f->bp,
                             .ctx = all->ctx,
                             .op = DH_DHT_OP_FRAME};
    put(all->to, &e);
    return ++all->n < DH_DHT_FRAMES;
}

/* lard.h functions create and join language-level threads. A thread may pass the address of its own stack to
 * one it creates: the report of a race there must know what it was. */
static void record_thread(struct dh_thread *t, u32 op, dh_uid_t uid)
{
    struct frames all = {.to = t->tap, .ctx = calls(t)};
    if (op == DH_OP_FORK && all.to && __dh_hot.self == t)
        dh_place_each_frame(here(t), put_frame, &all);
    record_sync(t, op, t->language ? DH_DHT_LANGUAGE : 0, dh_tap_thread(uid));
}

static void record_carried(struct dh_thread *t, const struct dh_thread *by)
{
    record_sync(t, DH_DHT_OP_CARRIED, 0, dh_tap_thread(by->uid));
}

static void record_named(struct dh_thread *t)
{
    if (t->tap)
        dh_stacks_tell_thread(arena, t->uid);
}

static void record_folded(dh_ctx_t ctx)
{
    if (!stopped)
        dh_stacks_tell_folded(arena, ctx);
}

static void record_start(struct dh_thread *t)
{
    t->tap = stream_new(dh_tap_thread(t->uid));
    record_named(t);
    record_sync(t, DH_OP_BEGIN, t->carried ? DH_DHT_LANGUAGE : 0, 0);
}

static void record_end(struct dh_thread *t)
{
    struct stream *s = t->tap;
    record_sync(t, DH_OP_END, t->carried ? DH_DHT_LANGUAGE : 0, 0);
    t->tap = NULL;
    if (s)
        chunk_end(s);
    dh_pool_free(s, sizeof(*s));
}

/* Into the stream of t (NULL: the calling thread); without one, into that for events of no thread. */
static void put_by(struct dh_thread *t, struct dh_dht_event *e)
{
    if (!t)
        t = __dh_hot.self;
    if (t && t->tap) {
        put(t->tap, e);
        return;
    }
    dh_lock_take(&lock);
    if (!nobody)
        nobody = stream_new(DH_DHT_NOBODY);
    e->pc = 0;
    put(nobody, e);
    dh_lock_drop(&lock);
}

static void record_memory(struct dh_thread *t, u32 op, uptr addr, size_t n, uptr from)
{
    struct dh_dht_event e = {.pc = here(t),
                             .addr = addr,
                             .bytes = n,
                             .source = from,
                             .ctx = calls(t),
                             .op = (u8)op,
                             .mode = (u8)memory_mark(__dh_hot.self)};
    put_by(t, &e);
}

static void record_block(struct dh_thread *t, uptr addr, size_t n)
{
    record_memory(t, DH_DHT_OP_BLOCK, addr, n, 0);
}

static void record_forget(struct dh_thread *t, uptr addr, size_t n)
{
    struct dh_dht_event e = {.pc = here(t),
                             .addr = addr,
                             .bytes = n,
                             .op = DH_DHT_OP_FORGET,
                             .mode = (u8)memory_mark(__dh_hot.self)};
    put_by(t, &e);
}

/* ---- Modules ---- */

static u8 hex(char c)
{
    return (u8)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Modules are described in slots of their own; the last list that contains an address is right. */
static void tell_module(const struct dh_module *m, void *ctx)
{
    struct dh_feed_slot *slot = ctx;
    u8 *data = arena->data[slot - arena->slots];
    struct dh_dht_module out = {.lo = m->lo,
                                .hi = m->hi,
                                .bias = m->bias,
                                .path_len = (u32)strlen(m->path),
                                .tls_below = (u32)m->tls_below,
                                .tls_size = (u32)m->tls_size};
    if (!m->loaded || slot->used + sizeof(out) + out.path_len > DH_DHT_CHUNK_BYTES)
        return;
    for (u32 i = 0; m->build_id[2 * i] && i < sizeof(out.build_id); i++) {
        out.build_id[i] = (u8)(hex(m->build_id[2 * i]) << 4 | hex(m->build_id[2 * i + 1]));
        out.build_id_len = (u8)(i + 1);
    }
    memcpy(data + slot->used, &out, sizeof(out));
    memcpy(data + slot->used + sizeof(out), m->path, out.path_len);
    slot->used += (u32)sizeof(out) + out.path_len;
}

static void record_modules(void)
{
    struct dh_feed_slot *slot = stopped ? NULL : take_slot();
    if (!slot)
        return;
    slot->type = DH_DHT_MODULES;
    slot->thread = slot->number = slot->used = 0;
    slot->first = DH_DHT_NO_TICKET;
    dh_modules_take();
    dh_modules_each(tell_module, slot);
    dh_modules_drop();
    slot->events = 0;
    give_slot(slot);
}

/* ---- Begin and end ---- */

static bool claim(int fd)
{
    /* In the area of the runtime's own memory: elsewhere it might be in the way of the program's shadow. */
    void *p = dh_sys_map_own(sizeof(*arena));
    if (!p || dh_sys_failed(dh_sys6(SYS_mmap, (long)p, sizeof(*arena), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_FIXED, fd, 0)))
        return false;
    struct dh_feed_layout *a = p;
    u32 none = 0, pid = (u32)dh_sys3(SYS_getpid, 0, 0, 0);
    if (a->head.magic != DH_FEED_MAGIC || a->head.version != DH_DHT_VERSION ||
        !__atomic_compare_exchange_n(&a->head.claimed, &none, pid, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        dh_sys_unmap(p, sizeof(*arena));
        return false;
    }
    arena = a;
    return true;
}

/* That descriptor number may be a file other than the recorder's memory. */
static bool is_arena(int fd)
{
    long size = dh_sys3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
    return size == (long)sizeof(*arena);
}

bool dh_record_wanted(void)
{
    int fd = dh_opts.record_fd;
    if (fd < 0)
        return false;
    if (is_arena(fd) && claim(fd))
        dh_sys3(SYS_close, fd, 0, 0);
    else
        stopped = true;
    return true;
}

/* The recorder takes unfinished slots when the process is gone; only what the encoder still buffers must be
 * written, and only for the thread that ends the process: others may be running. */
static void record_finish(void)
{
    struct stream *s = __dh_hot.self ? __dh_hot.self->tap : NULL;
    if (stopped || !s || !ready(s))
        return;
    dh_dht_encode_flush(&s->code);
    publish(s);
    __atomic_store_n(&arena->head.ending, 1, __ATOMIC_RELEASE);
    futex_wake(&arena->head.full);
}

static void record_fork_child(struct dh_thread *self)
{
    self->tap = NULL; /* the parent's, in memory that both share */
    nobody = NULL;
    stopped = true;
}

static void record_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}

const struct dh_tap dh_tap_record = {
    .thread_start = record_start,
    .thread_end = record_end,
    .access = record_access,
    .sync = record_sync,
    .release_foreign = record_foreign,
    .atomic = record_atomic,
    .thread = record_thread,
    .memory = record_memory,
    .block = record_block,
    .forget = record_forget,
    .carried = record_carried,
    .named = record_named,
    .folded = record_folded,
    .modules = record_modules,
    .finish = record_finish,
    .fork_child = record_fork_child,
    .each_lock = record_each_lock,
};
