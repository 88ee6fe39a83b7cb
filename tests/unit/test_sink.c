/*
 * test_sink.c - src/runtime/sink/sink.h: every event goes to the engine or to the tap, never to both, and as
 * the same event to either. Both are stubs here that write down what they are told.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/sink/sink.h"
#include "unit/check.h"

static char told[512];
static struct dh_thread one, two;

#define TELL(...) snprintf(told + strlen(told), sizeof(told) - strlen(told), __VA_ARGS__)

static const char *name(const struct dh_thread *t)
{
    return !t ? "nobody" : t == &one ? "one" : "two";
}

/* ---- The engine ---- */

_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;
struct dh_options dh_opts;

void dh_range_access(struct dh_thread *t, const volatile void *p, size_t n, u32 kind, const void *pc)
{
    TELL("access %s %p+%zu %u at %p;", name(t), (void *)p, n, kind, pc);
}
void dh_engine_check(struct dh_thread *t, const volatile void *p, size_t n)
{
    TELL("check %s %p+%zu;", name(t), (void *)p, n);
}
void dh_engine_clear(struct dh_thread *t, const volatile void *p, size_t n)
{
    TELL("clear %s %p+%zu;", name(t), (void *)p, n);
}
void dh_engine_copy(struct dh_thread *t, volatile void *dst, const volatile void *src, size_t n)
{
    TELL("copy %s %p %p+%zu;", name(t), (void *)dst, (void *)src, n);
}
void dh_engine_clear_object(struct dh_thread *t, uptr p, size_t n)
{
    TELL("clear object %s %#lx+%zu;", name(t), p, n);
}
void dh_engine_copy_object(struct dh_thread *t, uptr dst, uptr src, size_t n)
{
    TELL("copy object %s %#lx %#lx+%zu;", name(t), dst, src, n);
}
void dh_engine_clear_stack(uptr lo, uptr top)
{
    TELL("clear stack %#lx to %#lx;", lo, top);
}
void dh_sync_forget(const volatile void *addr, size_t n)
{
    TELL("forget %p+%zu;", (void *)addr, n);
}
void dh_sync_keep(uptr addr)
{
    TELL("keep %#lx;", addr);
}
void dh_order_take_in(struct dh_thread *t, uptr addr, bool read)
{
    TELL("take in %s %#lx%s;", name(t), addr, read ? " read" : "");
}
void dh_order_give_out(struct dh_thread *t, uptr addr, bool join)
{
    TELL("give out %s %#lx%s;", name(t), addr, join ? " join" : "");
}
void dh_order_give_out_lock(struct dh_thread *t, uptr lock, bool read)
{
    TELL("give out lock %s %#lx%s;", name(t), lock, read ? " read" : "");
}
void dh_thread_acquire(struct dh_thread *t, const struct dh_publish *p)
{
    TELL("acquire %s %s;", name(t), p == &one.birth ? "birth" : p == &two.death ? "death" : "other");
}
void dh_thread_release(struct dh_thread *t, struct dh_publish *p, bool join)
{
    TELL("release %s %s%s;", name(t), p == &two.birth ? "birth" : "other", join ? " join" : "");
}
void dh_thread_hand_over(struct dh_thread *from, struct dh_thread *to)
{
    TELL("hand over %s %s;", name(from), name(to));
}
u32 dh_thread_read_clock(const struct dh_thread *t, dh_slot_t slot)
{
    TELL("read clock %s %u;", name(t), dh_slot_raw(slot));
    return 7;
}
void dh_thread_write_clock(struct dh_thread *t, dh_slot_t slot, u64 time)
{
    TELL("write clock %s %u %lu;", name(t), dh_slot_raw(slot), time);
}
u32 dh_thread_last_epoch(const struct dh_thread *t)
{
    return t == &two ? 40 : 0;
}
void dh_exception_before_free(void *p, const void *pc)
{
    TELL("before free %p at %p;", p, pc);
}
void dh_exception_before_atomic(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc)
{
    TELL("before atomic %p+%u %u %u at %p;", (void *)p, size, order, kind, pc);
}

/* ---- The tap ---- */

static const char *const ops[DH_OP_COUNT] = {
    [DH_OP_ACQUIRE] = "acquire",
    [DH_OP_RELEASE] = "release",
    [DH_OP_FORK] = "fork",
    [DH_OP_JOIN] = "join",
    [DH_OP_VOLATILE] = "volatile",
    [DH_OP_NOTIFY] = "notify",
    [DH_OP_ATOMIC_STORE] = "atomic store",
    [DH_OP_WAIT] = "wait",
    [DH_OP_RANGE_NEW] = "new",
    [DH_OP_RANGE_MOVE] = "move",
    [DH_OP_RANGE_COPY] = "copy",
};

static void tap_start(struct dh_thread *t)
{
    TELL("BEGIN %s;", name(t));
}
static void tap_end(struct dh_thread *t)
{
    TELL("END %s;", name(t));
}
static void tap_access(struct dh_thread *t, const struct dh_tap_access *a)
{
    TELL("ACCESS %s %#lx+%zu %u;", name(t), a->addr, a->size, a->kind);
}
static void tap_sync(struct dh_thread *t, u32 op, u32 mode, uptr object)
{
    if (object == (uptr)&two)
        TELL("SYNC %s %s %u two;", name(t), ops[op], mode);
    else
        TELL("SYNC %s %s %u %#lx%s;", name(t), ops[op], mode, object, t->system_order ? " system" : "");
}
static void tap_foreign(struct dh_thread *t, uptr lock)
{
    TELL("FOREIGN %s %#lx%s;", name(t), lock, t->system_order ? " system" : "");
}
static void tap_atomic(struct dh_thread *t, u32 op, u32 order, const struct dh_tap_access *a)
{
    TELL("ATOMIC %s %s %u %#lx+%zu;", name(t), ops[op], order, a->addr, a->size);
}
static void tap_thread(struct dh_thread *t, u32 op, dh_uid_t uid)
{
    TELL("THREAD %s %s %u;", name(t), ops[op], dh_uid_raw(uid));
}
static void tap_memory(struct dh_thread *t, u32 op, uptr addr, size_t n, uptr from)
{
    TELL("MEMORY %s %s %#lx+%zu %#lx%s;", name(t), ops[op], addr, n, from,
         t && t->language ? " language" : "");
}
static void tap_block(struct dh_thread *t, uptr addr, size_t n)
{
    TELL("BLOCK %s %#lx+%zu;", name(t), addr, n);
}
static void tap_forget(struct dh_thread *t, uptr addr, size_t n)
{
    TELL("FORGET %s %#lx+%zu;", name(t), addr, n);
}
static void tap_carried(struct dh_thread *t, const struct dh_thread *by)
{
    TELL("CARRIED %s %s;", name(t), name(by));
}
static void tap_named(struct dh_thread *t)
{
    TELL("NAMED %s;", name(t));
}
static void tap_folded(dh_ctx_t ctx)
{
    TELL("FOLDED %u;", dh_ctx_raw(ctx));
}
static void tap_modules(void)
{
    TELL("MODULES;");
}
static void tap_finish(void)
{
    TELL("FINISH;");
}
static void tap_fork_child(struct dh_thread *self)
{
    TELL("FORK CHILD %s;", name(self));
}
static void tap_each_lock(dh_lock_fn *fn)
{
    (void)fn;
    TELL("EACH LOCK;");
}

static const struct dh_tap all = {
    .thread_start = tap_start,
    .thread_end = tap_end,
    .access = tap_access,
    .sync = tap_sync,
    .release_foreign = tap_foreign,
    .atomic = tap_atomic,
    .thread = tap_thread,
    .memory = tap_memory,
    .block = tap_block,
    .forget = tap_forget,
    .carried = tap_carried,
    .named = tap_named,
    .folded = tap_folded,
    .modules = tap_modules,
    .finish = tap_finish,
    .fork_child = tap_fork_child,
    .each_lock = tap_each_lock,
};
const struct dh_tap *dh_tap;

/* ---- Tests ---- */

/* What the event is to the engine, and to the tap. */
#define EVENT(event, engine, tap)          \
    do {                                   \
        dh_tap = NULL;                     \
        told[0] = 0;                       \
        event;                             \
        assert_string_equal(told, engine); \
        dh_tap = &all;                     \
        told[0] = 0;                       \
        event;                             \
        assert_string_equal(told, tap);    \
    } while (0)

#define P ((void *)0x1000)
#define Q ((void *)0x2000)

static int set_up(void **state)
{
    static u32 clock[2] = {30, 20};
    (void)state;
    one = (struct dh_thread){.uid = dh_uid_from(1), .slot = dh_slot_from(0), .vc = {.c = clock, .n = 2}};
    two = (struct dh_thread){.uid = dh_uid_from(2), .slot = dh_slot_from(1), .vc = {.c = clock, .n = 2}};
    dh_opts = (struct dh_options){0};
    return 0;
}

static void accesses(void **state)
{
    (void)state;
    /* range.c hands them to a tap itself. */
    EVENT(dh_sink_access(&one, P, 8, DH_WRITE), "access one 0x1000+8 1 at (nil);",
          "access one 0x1000+8 1 at (nil);");
    EVENT(dh_sink_access_at(&one, P, 8, DH_READ, Q), "access one 0x1000+8 0 at 0x2000;",
          "access one 0x1000+8 0 at 0x2000;");
    EVENT(dh_sink_check(&one, P, 4), "check one 0x1000+4;", "ACCESS one 0x1000+4 18;");
}

static void memory(void **state)
{
    (void)state;
    EVENT(dh_sink_clear(NULL, P, 16), "clear nobody 0x1000+16;", "MEMORY nobody new 0x1000+16 0;");
    EVENT(dh_sink_block(&one, P, 5), "clear one 0x1000+16;", "BLOCK one 0x1000+5;");
    EVENT(dh_sink_move(&one, P, Q, 16), "copy one 0x1000 0x2000+16;", "MEMORY one move 0x1000+16 0x2000;");
    EVENT(dh_sink_move(&one, P, P, 16), "copy one 0x1000 0x1000+16;", "");
    EVENT(dh_sink_move(&one, P, Q, 0), "copy one 0x1000 0x2000+0;", "");
    EVENT(dh_sink_forget(P, 4), "forget 0x1000+4;", "FORGET nobody 0x1000+4;forget 0x1000+4;");
    EVENT(dh_sink_clear_object(&one, 0x1000, 16), "clear object one 0x1000+16;",
          "MEMORY one new 0x1000+16 0;");
    EVENT(dh_sink_copy_object(&one, 0x1000, 0x2000, 16), "copy object one 0x1000 0x2000+16;",
          "MEMORY one copy 0x1000+16 0x2000;");
    EVENT(dh_sink_move_object(&one, 0x1000, 0x1008, 16, 0x1010, 8),
          "copy object one 0x1000 0x1008+16;clear object one 0x1010+8;", "MEMORY one move 0x1000+16 0x1008;");
}

/* Of a deep stack a tap gets the upper part; that it is no word of the language's stays between them. */
static void stacks(void **state)
{
    (void)state;
    one.language = true;
    EVENT(dh_sink_clear_stack(&one, 0x1000, 0x3000), "clear stack 0x1000 to 0x3000;",
          "MEMORY one new 0x1000+8192 0;");
    EVENT(dh_sink_clear_stack(&one, 0x1000, 0x900000), "clear stack 0x1000 to 0x900000;",
          "MEMORY one new 0x800000+1048576 0;");
    assert_true(one.language);
}

static void synchronisation(void **state)
{
    (void)state;
    EVENT(dh_sink_acquire(&one, 0x1000, false), "take in one 0x1000 read;", "SYNC one acquire 0 0x1000;");
    EVENT(dh_sink_acquire(&one, 0x1000, true), "take in one 0x1000;", "SYNC one acquire 1 0x1000;");
    EVENT(dh_sink_release(&one, 0x1000, DH_HELD_EXCLUSIVE, false), "give out lock one 0x1000;",
          "SYNC one release 0 0x1000;");
    EVENT(dh_sink_release(&one, 0x1000, DH_HELD_SHARED, false), "give out lock one 0x1000 read;",
          "SYNC one release 1 0x1000;");
    EVENT(dh_sink_release(&one, 0x1000, DH_HELD_UNKNOWN, false), "give out one 0x1000 join;",
          "FOREIGN one 0x1000;");
    EVENT(dh_sink_take_in(&one, 0x1000), "take in one 0x1000;", "SYNC one volatile 0 0x1000;");
    EVENT(dh_sink_give_out(&one, 0x1000, true), "give out one 0x1000 join;",
          "keep 0x1000;SYNC one volatile 1 0x1000;");
    EVENT(dh_sink_give_out(&one, 0x1000, false), "give out one 0x1000;",
          "keep 0x1000;ATOMIC one atomic store 3 0x1000+0;");
    EVENT(dh_sink_notify(&one, P), "", "SYNC one notify 0 0x1000;");
    EVENT(dh_sink_wait(&one, P), "", "SYNC one wait 0 0x1000;");
}

/* A run-time system's release is marked for as long as it is told. */
static void system_releases(void **state)
{
    (void)state;
    dh_tap = &all;
    told[0] = 0;
    dh_sink_release(&one, 0x1000, DH_HELD_EXCLUSIVE, true);
    dh_sink_release(&one, 0x1000, DH_HELD_UNKNOWN, true);
    assert_string_equal(told, "SYNC one release 0 0x1000 system;FOREIGN one 0x1000 system;");
    assert_int_equal(one.system_order, 0);
}

/* Who writes a time acquires what was released when it was read, and only if it is news. */
static void clocks(void **state)
{
    (void)state;
    EVENT(assert_int_equal(dh_sink_read_clock(&one, one.slot), dh_tap ? 30 : 7), "read clock one 0;",
          "SYNC one volatile 1 0x800000000000001e;");
    EVENT(assert_int_equal(dh_sink_read_clock(&one, two.slot), dh_tap ? 20 : 7), "read clock one 1;", "");
    EVENT(dh_sink_write_clock(&two, one.slot, 31), "write clock two 0 31;",
          "SYNC two volatile 0 0x800000000000001f;write clock two 0 31;");
    EVENT(dh_sink_write_clock(&two, one.slot, 30), "write clock two 0 30;", "write clock two 0 30;");
    EVENT(dh_sink_write_clock(&one, one.slot, 31), "write clock one 0 31;", "write clock one 0 31;");
}

static void threads(void **state)
{
    (void)state;
    EVENT(dh_sink_fork(&one, &two), "release one birth;", "THREAD one fork 2;");
    EVENT(dh_sink_begin(&one), "acquire one birth;", "BEGIN one;");
    EVENT(assert_int_equal(dh_sink_end(&one), dh_tap ? 30 : 7), "read clock one 0;", "END one;");
    EVENT(dh_sink_join(&one, &two), "acquire one death;", "THREAD one join 2;write clock one 1 40;");
    EVENT(dh_sink_hand_over(&one, &two), "hand over one two;",
          "SYNC one volatile 1 two;SYNC two volatile 0 two;");
    EVENT(dh_sink_carried(&two, &one), "", "CARRIED two one;");
}

/* The laboratory has no use for that. */
/* What only the recorder asks for. */
static void some_are_optional(void **state)
{
    (void)state;
    struct dh_tap without = all;
    without.carried = NULL;
    without.named = NULL;
    without.folded = NULL;
    dh_tap = &without;
    told[0] = 0;
    dh_sink_carried(&two, &one);
    dh_sink_named(&one);
    dh_sink_folded(dh_ctx_from(7));
    assert_string_equal(told, "");
    dh_tap = NULL;
}

static void process(void **state)
{
    (void)state;
    EVENT(dh_sink_named(&one), "", "NAMED one;");
    EVENT(dh_sink_folded(dh_ctx_from(7)), "", "FOLDED 7;");
    EVENT(dh_sink_modules(), "", "MODULES;");
    EVENT(dh_sink_finish(), "", "FINISH;");
    EVENT(dh_sink_fork_child(&one), "", "FORK CHILD one;");
    EVENT(dh_sink_each_lock(NULL), "", "EACH LOCK;");
    EVENT(assert_int_equal(dh_sink_wants_all(), dh_tap != NULL), "", "");
}

/* Races are raised if that was asked for, and by the engine only. */
static void exceptions(void **state)
{
    (void)state;
    EVENT(dh_sink_before_free(P, Q), "", "");
    EVENT(dh_sink_before_atomic(P, 4, DH_ACQUIRE, DH_ATOMIC_LOAD, Q), "", "");
    dh_opts.on_race = DH_ON_RACE_EXCEPTION;
    EVENT(dh_sink_before_free(P, Q), "before free 0x1000 at 0x2000;", "");
    EVENT(dh_sink_before_atomic(P, 4, DH_ACQUIRE, DH_ATOMIC_LOAD, Q), "before atomic 0x1000+4 2 0 at 0x2000;",
          "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(accesses, set_up),        cmocka_unit_test_setup(memory, set_up),
        cmocka_unit_test_setup(stacks, set_up),          cmocka_unit_test_setup(synchronisation, set_up),
        cmocka_unit_test_setup(system_releases, set_up), cmocka_unit_test_setup(clocks, set_up),
        cmocka_unit_test_setup(threads, set_up),         cmocka_unit_test_setup(some_are_optional, set_up),
        cmocka_unit_test_setup(process, set_up),         cmocka_unit_test_setup(exceptions, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
