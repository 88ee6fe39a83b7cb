/*
 * interp.c - the interpreter: runs one green thread until it yields, blocks or ends.
 *
 * Everything in here runs in the system region that its worker entered (sched.c), so that fetching
 * instructions and moving registers about are nobody's accesses. What the program itself accesses (fields,
 * elements, globals) is told by one call each, with the address of the instruction as its site. A compiler
 * would emit those calls, or better the checks themselves; there, the compiled code would be outside of
 * regions and calls into the run-time system inside.
 *
 * Between such a call and the access itself no collection can come: there is no safepoint in between.
 */
#include <stdio.h>

#include "oracle.h"
#include "vm.h"

enum { QUANTUM = 500 }; /* backward jumps and calls until another thread has its turn */

__attribute__((noreturn, noinline)) static void trap(const struct insn *i, const char *what)
{
    die("%s:%u: %s", vm.program.path, i->line, what);
}

/* ---- Accesses of the program ---- */

/* The access proper. Two threads of the program may race here, so it is an atomic one. The report stands for
 * it: were it seen once more by instrumentation, it would count twice where the run-time system's accesses
 * are looked at (the view `allmem`). */
#ifdef __DEADHEAT__
#define RAW static DH_UNTRACKED
#else
#define RAW static inline
#endif

RAW value raw_load(value *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

RAW void raw_store(value *p, value v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* Compiled without reports of accesses, the rest is what section 5.4 of the paper measures. */
#ifdef LARDVM_NO_ACCESSES
#define REPORT_READ(p, site) ((void)(p), (void)(site))
#define REPORT_WRITE(p, site) ((void)(p), (void)(site))
#else
/* Rule 1: an access explicit in the program, told just before it is made. */
#define REPORT_READ(p, site) dh_lard_read(p, sizeof(value), site)
#define REPORT_WRITE(p, site) dh_lard_write(p, sizeof(value), site)
#endif

/* A variable of the program: where it is now, and what it is in the language. */
struct place {
    value *p;
    struct oracle_key key;
};

/* With the oracle, one access at a time, the report included, so that both judge the same order. The number
 * is taken by an atomic operation that orders nothing (it is relaxed), but has its place in a recording, and
 * so gives the access its own: of accesses alone a recording keeps the order only as far as it matters. */
static __attribute__((noinline)) value judged(struct thread *t, struct place x, bool write, value v,
                                              const struct insn *i)
{
    oracle_lock(vm.oracle);
    uint64_t k = atomic_fetch_add_explicit(&vm.accesses, 1, memory_order_relaxed);
    if (write) {
        REPORT_WRITE(x.p, i);
        raw_store(x.p, v);
    } else {
        REPORT_READ(x.p, i);
        v = raw_load(x.p);
    }
    oracle_access(vm.oracle, t->id, x.key, write, k, i->line);
    oracle_unlock(vm.oracle);
    return v;
}

static inline value load(struct thread *t, struct place x, const struct insn *i)
{
    if (vm.oracle)
        return judged(t, x, false, 0, i);
    REPORT_READ(x.p, i);
    return raw_load(x.p);
}

static inline void store(struct thread *t, struct place x, value v, const struct insn *i)
{
    if (vm.oracle) {
        judged(t, x, true, v, i);
        return;
    }
    REPORT_WRITE(x.p, i);
    raw_store(x.p, v);
}

/* Volatile variables never race; they order. The value and the order it carries must change together, or a
 * reader could learn of a write that it did not see: hence a lock, one of a few for all. */
enum { VOLATILE_LOCKS = 64 };
static atomic_flag volatile_locks[VOLATILE_LOCKS];

static atomic_flag *lock_volatile(struct place x)
{
    atomic_flag *lock = &volatile_locks[(x.key.object * 7 + x.key.index) % VOLATILE_LOCKS];
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        __builtin_ia32_pause();
    return lock;
}

static __attribute__((noinline)) value load_volatile(struct thread *t, struct place x)
{
    atomic_flag *lock = lock_volatile(x);
    value v = raw_load(x.p);
    /* Rule 2: what was done before the volatile writes to it is before what follows. */
    dh_lard_acquire(x.p);
    if (vm.oracle)
        oracle_acquire(vm.oracle, t->id, x.key);
    atomic_flag_clear_explicit(lock, memory_order_release);
    return v;
}

static __attribute__((noinline)) void store_volatile(struct thread *t, struct place x, value v)
{
    atomic_flag *lock = lock_volatile(x);
    /* Rule 2: what was done so far is before what follows later reads of it. It adds to earlier writes: in
     * the language those, too, are ordered before later reads. */
    dh_lard_release(x.p);
    if (vm.oracle)
        oracle_release(vm.oracle, t->id, x.key);
    raw_store(x.p, v);
    atomic_flag_clear_explicit(lock, memory_order_release);
}

/* ---- Operands ---- */

static inline struct object *object_in(value v, const struct insn *i)
{
    if (!is_object(v))
        trap(i, v ? "a number is used as an object" : "there is no object");
    return (struct object *)v;
}

static inline struct place member(value v, int32_t member, const struct insn *i)
{
    struct object *o = object_in(v, i);
    uint32_t slot = (uint32_t)member & 0xffff;
    if (o->class != (uint32_t)member >> 16)
        trap(i, "the object is of another class");
    return (struct place){&o->slots[slot], {o->id, slot}};
}

static inline int64_t number(value v, const struct insn *i)
{
    if (!(v & 1))
        trap(i, "a number is needed");
    return int_of_value(v);
}

static inline struct place element(value array, value index, const struct insn *i)
{
    struct object *o = object_in(array, i);
    int64_t n = number(index, i);
    if (o->class != ARRAY_CLASS)
        trap(i, "the object is no array");
    if (n < 0 || n >= o->count)
        trap(i, "the index is outside of the array");
    return (struct place){&o->slots[n], {o->id, (uint32_t)n}};
}

static inline struct place global(uint32_t g)
{
    return (struct place){&vm.globals[g], {0, g}};
}

static struct object *new_array(struct worker *w, int64_t n, const struct insn *i)
{
    if (n < 0 || n > 1 << 20)
        trap(i, "the length of an array is from 0 to 1048576");
    return heap_new(w, ARRAY_CLASS, (uint32_t)n);
}

static value arithmetic(const struct insn *i, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b; /* which wrap around */
    switch (i->op) {
    case OP_ADD:
        return value_of_int((int64_t)(x + y));
    case OP_SUB:
        return value_of_int((int64_t)(x - y));
    case OP_MUL:
        return value_of_int((int64_t)(x * y));
    default:
        if (b == 0)
            trap(i, "division by zero");
        return value_of_int(i->op == OP_DIV ? a / b : a % b);
    }
}

static struct thread *other_thread(value v, const struct insn *i)
{
    struct thread *t = thread_find(number(v, i));
    if (!t)
        trap(i, "there is no such thread");
    return t;
}

/* ---- The loop ---- */

/* What may block. The thread's registers are read before anything happens to it: once it is in a queue, it is
 * no longer ours but for the latch that keeps others away. */
static enum progress may_block(struct worker *w, struct thread *t, const struct insn *i, const value *r)
{
    switch (i->op) {
    case OP_LOCK:
        return monitor_enter(w, t, object_in(r[i->a], i));
    case OP_WAIT:
        return monitor_wait(w, t, object_in(r[i->a], i));
    case OP_UNLOCK:
        return monitor_leave(w, t, object_in(r[i->a], i));
    case OP_NOTIFY:
    case OP_NOTIFYALL:
        return monitor_notify(t, object_in(r[i->a], i), i->op == OP_NOTIFYALL);
    case OP_JOIN:
        return thread_join(w, t, other_thread(r[i->a], i));
    default:
        return stage_await(w, t, (uint32_t)i->b);
    }
}

/* Returns from the top call. False: it was the last one. */
static bool leave_call(struct thread *t, value result)
{
    struct frame *f = &t->frames[--t->depth];
    if (t->depth == 0)
        return false;
    t->registers[t->frames[t->depth - 1].base + f->result] = result;
    return true;
}

/* Jumps; backwards it is a safepoint, and the thread's turn may be over. */
#define JUMP(to)                           \
    do {                                   \
        uint32_t target_ = (uint32_t)(to); \
        bool back_ = target_ <= pc;        \
        pc = target_;                      \
        if (back_)                         \
            goto safepoint;                \
    } while (0)

enum outcome interpret(struct worker *w, struct thread *t)
{
    const struct insn *code = vm.program.code;
    struct frame *f;
    value *r;
    uint32_t pc;
    int turns = QUANTUM;

enter:
    f = &t->frames[t->depth - 1];
    r = t->registers + f->base;
    pc = f->pc;
    for (;;) {
        const struct insn *i = &code[pc++];
        switch ((enum op)i->op) {
        case OP_INT:
            r[i->a] = value_of_int(i->b);
            break;
        case OP_MOV:
            r[i->a] = r[i->b];
            break;
        case OP_NIL:
            r[i->a] = 0;
            break;
        case OP_ADD:
        case OP_SUB:
        case OP_MUL:
        case OP_DIV:
        case OP_REM:
            r[i->a] = arithmetic(i, number(r[i->b], i), number(r[i->c], i));
            break;
        case OP_ADDI:
            r[i->a] = value_of_int(number(r[i->b], i) + i->c);
            break;
        case OP_JMP:
            JUMP(i->b);
            break;
        case OP_JEQ:
            if (r[i->a] == r[i->b])
                JUMP(i->c);
            break;
        case OP_JNE:
            if (r[i->a] != r[i->b])
                JUMP(i->c);
            break;
        case OP_JLT:
            if (number(r[i->a], i) < number(r[i->b], i))
                JUMP(i->c);
            break;
        case OP_JLE:
            if (number(r[i->a], i) <= number(r[i->b], i))
                JUMP(i->c);
            break;
        case OP_JNIL:
            if (!r[i->a])
                JUMP(i->b);
            break;
        case OP_NEW: /* a collection moves objects and updates registers: store the result after it */
            r[i->a] = (value)heap_new(w, (uint32_t)i->b, vm.program.classes[i->b].n_fields);
            break;
        case OP_ARRAY:
            r[i->a] = (value)new_array(w, number(r[i->b], i), i);
            break;
        case OP_LEN:
            r[i->a] = value_of_int(object_in(r[i->b], i)->count);
            break;
        case OP_GET:
            r[i->a] = load(t, member(r[i->b], i->c, i), i);
            break;
        case OP_PUT:
            store(t, member(r[i->a], i->b, i), r[i->c], i);
            break;
        case OP_AGET:
            r[i->a] = load(t, element(r[i->b], r[i->c], i), i);
            break;
        case OP_APUT:
            store(t, element(r[i->a], r[i->b], i), r[i->c], i);
            break;
        case OP_GGET:
            r[i->a] = load(t, global((uint32_t)i->b), i);
            break;
        case OP_GPUT:
            store(t, global(i->a), r[i->b], i);
            break;
        case OP_GETV:
            r[i->a] = load_volatile(t, member(r[i->b], i->c, i));
            break;
        case OP_PUTV:
            store_volatile(t, member(r[i->a], i->b, i), r[i->c]);
            break;
        case OP_GGETV:
            r[i->a] = load_volatile(t, global((uint32_t)i->b));
            break;
        case OP_GPUTV:
            store_volatile(t, global(i->a), r[i->b]);
            break;
        case OP_LOCK:
        case OP_UNLOCK:
        case OP_WAIT:
        case OP_NOTIFY:
        case OP_NOTIFYALL:
        case OP_JOIN:
        case OP_AWAIT:
            f->pc = pc - 1; /* executed again after blocking */
            switch (may_block(w, t, i, r)) {
            case GO_ON:
                break;
            case BLOCK:
                return BLOCKED;
            case REFUSE:
                trap(i, i->op == OP_JOIN ? "a thread joins itself, or one that was joined before"
                                         : "the thread is not in the monitor");
            }
            break;
        case OP_START: {
            struct thread *child = thread_new(t, (uint32_t)i->b, r[i->c]);
            r[i->a] = value_of_int(child->id);
            sched_ready(w, child);
            break;
        }
        case OP_YIELD:
            f->pc = pc;
            return YIELDED;
        case OP_GC:
            heap_collect(w);
            break;
        case OP_CALL:
            f->pc = pc;
            thread_push(t, (uint32_t)i->b, i->a, &r[i->c]);
            if (--turns == 0)
                return YIELDED;
            sched_safepoint(w);
            goto enter;
        case OP_RET:
        case OP_RETNIL:
            if (!leave_call(t, i->op == OP_RET ? r[i->a] : 0))
                return ENDED;
            goto enter;
        case OP_PRINT:
            if (is_object(r[i->a]))
                puts("object");
            else if (r[i->a])
                printf("%lld\n", (long long)int_of_value(r[i->a]));
            else
                puts("nil");
            break;
        case OP_PARAM:
            r[i->a] = value_of_int(vm.param);
            break;
        case OP_STAGE:
            stage_next(w);
            break;
        case OP_COUNT:
            __builtin_unreachable();
        }
        continue;
    safepoint:
        if (--turns == 0) {
            f->pc = pc;
            return YIELDED;
        }
        sched_safepoint(w);
    }
}
