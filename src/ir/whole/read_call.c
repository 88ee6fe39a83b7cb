/*
 * read_call.c - calls: of the program's own functions, of known library functions, of intrinsics, of the
 * unknown.
 *
 * What is known of a library function becomes the same operations that instructions become (library.def), so
 * no later phase knows names.
 */
#include <stdio.h>
#include <string.h>

#include "ir/whole/library.h"
#include "ir/whole/read.h"

static u32 add_call(struct dh_w_reader *r, u32 fn, dh_w_value callee, u32 n)
{
    struct dh_w_fn *f = r->fn;
    f->calls = dh_util_grow(f->calls, f->n_calls, &f->cap_calls, sizeof *f->calls);
    f->calls[f->n_calls] =
        (struct dh_w_call){fn, callee, n, dh_arena_array(&r->w->arena, n + 1, sizeof(dh_w_value))};
    return (u32)f->n_calls++;
}

static dh_w_value argument(struct dh_w_reader *r, LLVMValueRef inst, int n)
{
    if (n < 0 || (unsigned)n >= LLVMGetNumArgOperands(inst))
        return DH_W_NONE;
    return dh_w_operand(r, LLVMGetOperand(inst, (unsigned)n));
}

static bool is_pointer(LLVMValueRef inst, unsigned n)
{
    return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(inst, n))) == LLVMPointerTypeKind;
}

/* A call of the program's own code, or through a pointer. */
static void read_own(struct dh_w_reader *r, LLVMValueRef inst, u32 fn, dh_w_value callee)
{
    u32 n = LLVMGetNumArgOperands(inst);
    u32 call = add_call(r, fn, callee, n);
    for (u32 i = 0; i < n; i++)
        r->fn->calls[call].args[i] = argument(r, inst, (int)i);
    dh_w_value dst = dh_w_result(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_CALL, inst);
    op->call = call;
    op->dst = dst;
}

static u32 length_of(LLVMValueRef inst, const struct dh_w_effect *e)
{
    if (e->length != 0)
        return e->length;
    if (e->length_arg < 0)
        return DH_PTS_ANY;
    LLVMValueRef n = LLVMGetOperand(inst, (unsigned)e->length_arg);
    if (LLVMIsAConstantInt(n) == NULL || LLVMConstIntGetZExtValue(n) >= DH_PTS_ANY)
        return DH_PTS_ANY;
    return (u32)LLVMConstIntGetZExtValue(n);
}

static void simple(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind, dh_w_value dst,
                   dh_w_value a)
{
    struct dh_w_op *op = dh_w_op_add(r, kind, inst);
    op->dst = dst;
    op->a = a;
}

static void touch_value(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, u8 access, u32 length)
{
    if (a == DH_W_NONE || length == 0)
        return;
    struct dh_w_op *op = dh_w_op_add(r, DH_W_TOUCH, inst);
    op->a = a;
    dh_w_op_site(r, op, access, length);
}

static void touch(struct dh_w_reader *r, LLVMValueRef inst, int n, u8 access, u32 length)
{
    touch_value(r, inst, argument(r, inst, n), access, length);
}

/* The arguments that say how large fresh memory is. */
static void sized(struct dh_w_reader *r, const struct dh_w_effect *e)
{
    struct dh_w_op *op = &r->fn->ops[r->fn->n_ops - 1];
    op->size_arg = (u8)(e->length_arg + 1);
    op->count_arg = (u8)(e->count_arg + 1);
}

/* What a points to at an offset. */
static dh_w_value loaded(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, int offset)
{
    dh_w_value at = dh_w_fresh(r), value = dh_w_fresh(r);
    simple(r, inst, DH_W_OFFSET, at, a);
    r->fn->ops[r->fn->n_ops - 1].off = offset;
    simple(r, inst, DH_W_LOAD, value, at);
    return value;
}

static void touch_effect(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    u8 access = e->kind == DH_W_EFFECT_READ ? DH_PAIRS_READ : DH_PAIRS_WRITE;
    dh_w_value a = argument(r, inst, e->n);
    if (a != DH_W_NONE && e->list) {
        /* The x86-64 va_list holds two pointers to arguments: in memory, and saved from registers. */
        for (int offset = 8; offset <= 16; offset += 8)
            touch_value(r, inst, loaded(r, inst, loaded(r, inst, a, offset), 0), access, DH_PTS_ANY);
    } else if (a != DH_W_NONE && e->deref >= 0) {
        touch_value(r, inst, loaded(r, inst, a, e->deref), access, length);
    } else {
        touch_value(r, inst, a, access, length);
    }
    for (int i = e->n + 1; e->rest && i < (int)LLVMGetNumArgOperands(inst); i++)
        if (is_pointer(inst, (unsigned)i))
            touch(r, inst, i, access, length);
}

/* Whether a format is known and lets nothing be allocated ("%ms"). */
static bool allocates_nothing(LLVMValueRef format)
{
    LLVMValueRef text = LLVMIsAGlobalVariable(format) != NULL ? LLVMGetInitializer(format) : NULL;
    size_t n = 0;
    if (text == NULL || !LLVMIsGlobalConstant(format) || LLVMIsAConstantDataArray(text) == NULL)
        return false;
    const char *bytes = LLVMGetAsString(text, &n);
    return memchr(bytes, 'm', n) == NULL;
}

static void scan(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    bool plain = allocates_nothing(LLVMGetOperand(inst, (unsigned)e->n));
    for (int i = e->m; i < (int)LLVMGetNumArgOperands(inst); i++) {
        dh_w_value a = argument(r, inst, i);
        touch_value(r, inst, a, DH_PAIRS_WRITE, DH_PTS_ANY);
        if (plain || a == DH_W_NONE)
            continue;
        dh_w_value fresh = dh_w_fresh(r);
        simple(r, inst, DH_W_ALLOC, fresh, DH_W_NONE);
        touch_value(r, inst, fresh, DH_PAIRS_WRITE, DH_PTS_ANY);
        simple(r, inst, DH_W_STORE, DH_W_NONE, a);
        r->fn->ops[r->fn->n_ops - 1].b = fresh;
    }
}

/* mmap of a file that others may map too: not memory of its own. */
static bool maps_shared_file(LLVMValueRef inst)
{
    enum { MAP_SHARED_BIT = 1, MAP_ANONYMOUS_BIT = 0x20 };
    LLVMValueRef flags = LLVMGetOperand(inst, 3);
    if (LLVMIsAConstantInt(flags) == NULL)
        return true;
    u64 bits = LLVMConstIntGetZExtValue(flags);
    return (bits & MAP_SHARED_BIT) && !(bits & MAP_ANONYMOUS_BIT);
}

static void copy_memory(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    int to = e->n, from = e->m;
    dh_w_value a = argument(r, inst, to), b = argument(r, inst, from);
    if (length == 0)
        return;
    struct dh_w_op *op = dh_w_op_add(r, DH_W_MEMCPY, inst);
    op->a = a;
    op->b = b;
    op->access_b = DH_PAIRS_READ;
    if (e->length_arg >= 0 && !dh_w_may_hold_pointers(LLVMGetOperand(inst, (unsigned)e->length_arg)))
        op->flags |= DH_W_BYTES;
    dh_w_op_site(r, op, DH_PAIRS_WRITE, length);
}

static dh_w_value channel(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value all = dh_w_fresh(r);
    simple(r, inst, DH_W_FOREIGN, all, DH_W_NONE);
    r->fn->ops[r->fn->n_ops - 1].flags |= DH_W_CHANNEL;
    return all;
}

/* Through a pipe, a socket or a file, pointers come out in another thread. The same holds of lengths as for
 * copies. */
static void transfer(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e, u32 length)
{
    dh_w_value memory = argument(r, inst, e->n);
    if (memory == DH_W_NONE)
        return;
    if (e->length_arg >= 0 && !dh_w_may_hold_pointers(LLVMGetOperand(inst, (unsigned)e->length_arg))) {
        dh_w_assume(r->w, DH_W_ASSUME_BYTES, length == DH_PTS_ANY, inst);
        return;
    }
    dh_w_value all = channel(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_MEMCPY, inst);
    op->a = e->kind == DH_W_EFFECT_SEND ? all : memory;
    op->b = e->kind == DH_W_EFFECT_SEND ? memory : all;
    op->length = length;
}

static void post(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value value)
{
    if (value == DH_W_NONE)
        return;
    simple(r, inst, DH_W_STORE, DH_W_NONE, channel(r, inst));
    r->fn->ops[r->fn->n_ops - 1].b = value;
}

static void call_back(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value callee = argument(r, inst, e->n);
    if (callee == DH_W_NONE)
        return;
    u32 call = add_call(r, DH_W_NONE, callee, (u32)e->n_args);
    for (int i = 0; i < e->n_args; i++) {
        dh_w_value a = e->args[i] == DH_W_EFFECT_SENT ? loaded(r, inst, channel(r, inst), 0)
                                                      : argument(r, inst, e->args[i]);
        if (e->into[i] && a != DH_W_NONE) {
            dh_w_value any = dh_w_fresh(r);
            simple(r, inst, DH_W_ANY, any, a);
            a = any;
        }
        r->fn->calls[call].args[i] = a;
    }
    dh_w_op_add(r, e->kind == DH_W_EFFECT_LATE ? DH_W_LATE : DH_W_BACK, inst)->call = call;
}

static void fork_thread(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind, dh_w_value handle,
                        dh_w_value callee, dh_w_value arg)
{
    u32 call = add_call(r, DH_W_NONE, callee, 1);
    r->fn->calls[call].args[0] = arg;
    struct dh_w_op *op = dh_w_op_add(r, kind, inst);
    op->call = call;
    op->a = handle;
}

/* std::thread::_M_start_thread(this, unique_ptr<_State>, ...): calls state->_M_run(), the third virtual
 * function. */
static void fork_state(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value state = dh_w_fresh(r), vptr = dh_w_fresh(r), slot = dh_w_fresh(r), run = dh_w_fresh(r);
    simple(r, inst, DH_W_LOAD, state, argument(r, inst, 1));
    simple(r, inst, DH_W_LOAD, vptr, state);
    simple(r, inst, DH_W_OFFSET, slot, vptr);
    r->fn->ops[r->fn->n_ops - 1].off = 16;
    simple(r, inst, DH_W_LOAD, run, slot);
    fork_thread(r, inst, DH_W_FORK, argument(r, inst, 0), run, state);
}

static void join_thread(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value handle, dh_w_value result)
{
    struct dh_w_op *op = dh_w_op_add(r, DH_W_JOIN, inst);
    op->a = handle;
    op->b = result;
}

static void lock(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    enum dh_w_kind kind = e->kind == DH_W_EFFECT_UNLOCK ? DH_W_UNLOCK
                          : e->kind == DH_W_EFFECT_WAIT ? DH_W_WAIT
                          : e->tries                    ? DH_W_TRYLOCK
                                                        : DH_W_LOCK;
    dh_w_value a = argument(r, inst, e->n);
    struct dh_w_op *op = dh_w_op_add(r, kind, inst);
    op->a = a;
    op->lock_kind = e->lock_kind;
    op->flags |= e->shared ? DH_W_SHARED : 0;
    if (kind == DH_W_TRYLOCK)
        dh_w_table_put(&r->tries, DH_W_KEY((u64)(uptr)inst), (u32)r->fn->n_ops - 1);
}

/* pthread_once is a lock for reading and writing that is never given back: whoever initialises has it alone,
 * and whoever comes back from the call has it for reading from then on. */
static void call_once(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    struct dh_w_effect lock_it = {.kind = DH_W_EFFECT_LOCK, .n = e->n, .lock_kind = DH_PAIRS_OTHER_LOCK};
    struct dh_w_effect unlock_it = lock_it, read_lock_it = lock_it;
    struct dh_w_effect call_it = {.kind = DH_W_EFFECT_CALL, .n = e->m};
    unlock_it.kind = DH_W_EFFECT_UNLOCK;
    read_lock_it.shared = true;
    lock(r, inst, &lock_it);
    call_back(r, inst, &call_it);
    lock(r, inst, &unlock_it);
    lock(r, inst, &read_lock_it);
}

/* An argument goes where only the library looks: no access of the program. */
static void put(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value to = argument(r, inst, e->n), value = argument(r, inst, e->m), at = dh_w_fresh(r);
    if (to == DH_W_NONE || value == DH_W_NONE)
        return;
    simple(r, inst, DH_W_OFFSET, at, to);
    r->fn->ops[r->fn->n_ops - 1].off = e->k;
    simple(r, inst, DH_W_STORE, DH_W_NONE, at);
    r->fn->ops[r->fn->n_ops - 1].b = value;
}

/* The events of a base are called back: see instance.c. */
static void poll(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value base)
{
    if (base == DH_W_NONE)
        return;
    u32 call = add_call(r, DH_W_NONE, loaded(r, inst, base, 0), 0);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_BACK, inst);
    op->call = call;
    op->flags |= DH_W_POLLS;
}

static void set_handler(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind, dh_w_value handler)
{
    if (handler != DH_W_NONE)
        fork_thread(r, inst, kind, DH_W_NONE, handler, DH_W_NONE);
}

/* A struct sigevent: a value at 0 and a function at 16, which threads are started with, each time something
 * happens. */
static void notify(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value event)
{
    if (event == DH_W_NONE)
        return;
    dh_w_value value = loaded(r, inst, event, 0), function = loaded(r, inst, event, 16);
    fork_thread(r, inst, DH_W_FORK, DH_W_NONE, function, value);
    r->fn->ops[r->fn->n_ops - 1].flags |= DH_W_OFTEN;
    post(r, inst, value); /* or it goes to a signal handler */
}

static void apply(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value dst = dh_w_result(r, inst);
    u32 length = length_of(inst, e);
    switch (e->kind) {
    case DH_W_EFFECT_READ:
    case DH_W_EFFECT_WRITE:
        touch_effect(r, inst, e, length);
        break;
    case DH_W_EFFECT_SCAN:
        scan(r, inst, e);
        break;
    case DH_W_EFFECT_RENEW:
        simple(r, inst, DH_W_RENEW, DH_W_NONE, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_MAP:
        simple(r, inst, maps_shared_file(inst) ? DH_W_FOREIGN : DH_W_ALLOC, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_COPY:
        copy_memory(r, inst, e, length);
        break;
    case DH_W_EFFECT_RETURN:
        dh_w_op_copy(r, inst, dst, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_RETURN_INTO:
        simple(r, inst, DH_W_ANY, dst, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_NEW:
        simple(r, inst, DH_W_ALLOC, dst, DH_W_NONE);
        sized(r, e);
        break;
    case DH_W_EFFECT_NEW_AT:
        touch(r, inst, e->n, DH_PAIRS_WRITE, 8);
        simple(r, inst, DH_W_ALLOC_AT, DH_W_NONE, argument(r, inst, e->n));
        sized(r, e);
        break;
    case DH_W_EFFECT_FOREIGN:
        simple(r, inst, DH_W_FOREIGN, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_FREE:
        touch(r, inst, e->n, DH_PAIRS_FREE, DH_PTS_ANY);
        break;
    case DH_W_EFFECT_LOCK:
    case DH_W_EFFECT_UNLOCK:
    case DH_W_EFFECT_WAIT:
        lock(r, inst, e);
        break;
    case DH_W_EFFECT_ONCE:
        call_once(r, inst, e);
        break;
    case DH_W_EFFECT_SEND:
    case DH_W_EFFECT_RECEIVE:
        transfer(r, inst, e, length);
        break;
    case DH_W_EFFECT_POST:
        post(r, inst, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_HELD:
        dh_w_op_copy(r, inst, dst, channel(r, inst));
        break;
    case DH_W_EFFECT_NOTIFY:
        notify(r, inst, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_AGAIN:
        dh_w_op_add(r, DH_W_AGAIN, inst);
        dh_w_table_put(&r->tries, DH_W_KEY((u64)(uptr)inst), (u32)r->fn->n_ops - 1);
        break;
    case DH_W_EFFECT_BARRIER:
        simple(r, inst, DH_W_BARRIER, DH_W_NONE, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_FORK:
        fork_thread(r, inst, DH_W_FORK, argument(r, inst, e->n), argument(r, inst, e->m),
                    argument(r, inst, e->k));
        break;
    case DH_W_EFFECT_STDFORK:
        fork_state(r, inst);
        break;
    case DH_W_EFFECT_JOIN:
        join_thread(r, inst, argument(r, inst, e->n), argument(r, inst, e->m));
        break;
    case DH_W_EFFECT_STDJOIN: {
        dh_w_value handle = dh_w_fresh(r);
        simple(r, inst, DH_W_LOAD, handle, argument(r, inst, 0));
        join_thread(r, inst, handle, DH_W_NONE);
        break;
    }
    case DH_W_EFFECT_SIGNAL:
        set_handler(r, inst, DH_W_SIGNAL, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_SIGACTION: {
        dh_w_value handler = dh_w_fresh(r);
        simple(r, inst, DH_W_LOAD, handler, argument(r, inst, e->n));
        set_handler(r, inst, DH_W_SIGNAL, handler);
        break;
    }
    case DH_W_EFFECT_CALL:
    case DH_W_EFFECT_LATE:
        call_back(r, inst, e);
        break;
    case DH_W_EFFECT_OUTSIDER:
        if (argument(r, inst, e->n) != DH_W_NONE)
            fork_thread(r, inst, DH_W_OUTSIDER, DH_W_NONE, argument(r, inst, e->n), argument(r, inst, e->m));
        break;
    case DH_W_EFFECT_PUT:
        put(r, inst, e);
        break;
    case DH_W_EFFECT_POLL:
        poll(r, inst, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_SET:
        simple(r, inst, DH_W_SET, DH_W_NONE, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_GET:
        simple(r, inst, DH_W_GET, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_LOCAL:
        simple(r, inst, DH_W_OWN, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_THROW:
        simple(r, inst, DH_W_THROW, DH_W_NONE, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_CATCH:
        simple(r, inst, DH_W_CATCH, dst, DH_W_NONE);
        break;
    case DH_W_EFFECT_EXIT:
        simple(r, inst, DH_W_EXIT, DH_W_NONE, argument(r, inst, e->n));
        break;
    case DH_W_EFFECT_STOP:
        dh_w_op_add(r, DH_W_STOP, inst);
        break;
    }
}

/* The C++ library keeps no function, and has no threads but std::thread, which is known. */
static bool is_standard(LLVMValueRef inst)
{
    static const char *const prefixes[] = {"_ZNSt",          "_ZNKSt",        "_ZSt",    "_ZNSo",
                                           "_ZNSi",          "_ZNSs",         "_ZNKSs",  "__cxa_",
                                           "_ZNK9__gnu_cxx", "_ZN9__gnu_cxx", "_Unwind_"};
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &len);
    for (size_t i = 0; i < DH_ARRAY_LEN(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* What outside code was given it may keep, and call later whatever functions it can reach from there. */
static void give_away(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value all)
{
    dh_w_value anywhere = dh_w_fresh(r), reached = dh_w_fresh(r);
    simple(r, inst, DH_W_ANY, anywhere, all);
    simple(r, inst, DH_W_ANY, reached, all);
    simple(r, inst, DH_W_LOAD, reached, anywhere);
    fork_thread(r, inst, DH_W_OUTSIDER, DH_W_NONE, reached, all);
    r->fn->ops[r->fn->n_ops - 1].flags |= DH_W_UNKNOWN;
}

/* A function that is neither ours nor known: it may call what it is given, and returns that or memory of its
 * own. */
static void read_unknown(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_assume(r->w, DH_W_ASSUME_EXTERNAL, 1, inst);
    enum { HANDED_ON = 4 }; /* to each function that it may call: any of its own arguments */
    u32 n = LLVMGetNumArgOperands(inst);
    dh_w_value all = dh_w_fresh(r);
    for (u32 i = 0; i < n; i++)
        dh_w_op_copy(r, inst, all, argument(r, inst, (int)i));
    for (u32 i = 0; i < n; i++) {
        if (!is_pointer(inst, i) || argument(r, inst, (int)i) == DH_W_NONE)
            continue;
        u32 call = add_call(r, DH_W_NONE, argument(r, inst, (int)i), HANDED_ON);
        for (u32 k = 0; k < HANDED_ON; k++)
            r->fn->calls[call].args[k] = all;
        dh_w_op_add(r, DH_W_BACK, inst)->call = call;
    }
    bool known = is_standard(inst);
    if (!known && r->w->large) /* a root more is half as much work again, and twice the memory */
        dh_w_assume(r->w, DH_W_ASSUME_KEPT, 1, inst);
    else if (!known)
        give_away(r, inst, all);
    if (LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMPointerTypeKind) {
        dh_w_assume(r->w, DH_W_ASSUME_FOREIGN, 1, inst);
        simple(r, inst, DH_W_FOREIGN, dh_w_result(r, inst), DH_W_NONE);
        r->fn->ops[r->fn->n_ops - 1].flags |= known ? 0 : DH_W_UNKNOWN;
        r->fn->ops[r->fn->n_ops - 1].b = all;
        simple(r, inst, DH_W_ANY, dh_w_result(r, inst), all);
    }
}

static void read_masked(struct dh_w_reader *r, LLVMValueRef inst, bool write)
{
    dh_w_value dst = dh_w_result(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, write ? DH_W_STORE : DH_W_LOAD, inst);
    dh_w_value at = argument(r, inst, write ? 1 : 0), value = write ? argument(r, inst, 0) : dst;
    op->dst = write ? DH_W_NONE : dst;
    op->a = at;
    op->b = write ? value : DH_W_NONE;
    LLVMTypeRef type = write ? LLVMTypeOf(LLVMGetOperand(inst, 0)) : LLVMTypeOf(inst);
    dh_w_op_site(r, op, write ? DH_PAIRS_WRITE : DH_PAIRS_READ, dh_w_size(r->w, type));
    dh_w_read_words(r, inst, type, at, value, write);
}

static void read_thread_local(struct dh_w_reader *r, LLVMValueRef inst)
{
    LLVMValueRef global = LLVMGetOperand(inst, 0);
    dh_w_value dst = dh_w_result(r, inst);
    if (LLVMIsAGlobalVariable(global) == NULL) {
        dh_w_op_copy(r, inst, dst, dh_w_operand(r, global));
        return;
    }
    u32 number = dh_w_global(r->w, global);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_TLS, inst);
    op->dst = dst;
    op->b = number;
}

static void read_intrinsic(struct dh_w_reader *r, LLVMValueRef inst, const char *name)
{
    static const struct {
        const char *prefix, *effects;
    } known[] = {
        {"llvm.memcpy", "m0,1:2"},     {"llvm.memmove", "m0,1:2"},  {"llvm.memset", "w0:2"},
        {"llvm.ptrmask", "=0"},        {"llvm.launder", "=0"},      {"llvm.strip", "=0"},
        {"llvm.ptr.annotation", "=0"}, {"llvm.va_copy", "m0,1=24"}, {"llvm.trap", "stop"},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(known); i++) {
        if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) != 0)
            continue;
        struct dh_w_effect e;
        for (const char *at = known[i].effects; dh_w_effect_next(&at, &e);)
            apply(r, inst, &e);
        return;
    }
    if (strncmp(name, "llvm.threadlocal.address", 24) == 0)
        read_thread_local(r, inst);
    else if (strncmp(name, "llvm.va_start", 13) == 0)
        simple(r, inst, DH_W_VASTART, DH_W_NONE, argument(r, inst, 0));
    else if (strncmp(name, "llvm.masked.load", 16) == 0 || strncmp(name, "llvm.masked.gather", 18) == 0)
        read_masked(r, inst, false);
    else if (strncmp(name, "llvm.masked.store", 17) == 0 || strncmp(name, "llvm.masked.scatter", 19) == 0)
        read_masked(r, inst, true);
}

static bool is_memory_operand(LLVMValueRef call, unsigned n)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));
    return LLVMGetCallSiteEnumAttribute(call, n + 1, kind) != NULL;
}

/* Whatever goes in may come out: in registers, and in the memory operands. */
static void read_asm(struct dh_w_reader *r, LLVMValueRef inst, LLVMValueRef callee)
{
    size_t len;
    LLVMGetInlineAsmAsmString(callee, &len);
    if (len != 0) /* an empty one is only a barrier for the compiler */
        dh_w_assume(r->w, DH_W_ASSUME_ASM, 1, inst);
    dh_w_value all = dh_w_fresh(r);
    unsigned n = LLVMGetNumArgOperands(inst);
    for (unsigned i = 0; i < n; i++) {
        dh_w_value a = argument(r, inst, (int)i);
        if (a == DH_W_NONE)
            continue;
        if (is_memory_operand(inst, i))
            simple(r, inst, DH_W_LOAD, all, a);
        else
            dh_w_op_copy(r, inst, all, a);
    }
    for (unsigned i = 0; i < n; i++)
        if (is_memory_operand(inst, i) && argument(r, inst, (int)i) != DH_W_NONE) {
            simple(r, inst, DH_W_STORE, DH_W_NONE, argument(r, inst, (int)i));
            r->fn->ops[r->fn->n_ops - 1].b = all;
        }
    dh_w_op_copy(r, inst, dh_w_result(r, inst), all);
}

void dh_w_read_call(struct dh_w_reader *r, LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee) != NULL) {
        read_asm(r, inst, callee);
        return;
    }
    while (LLVMIsAGlobalAlias(callee) != NULL)
        callee = LLVMAliasGetAliasee(callee);
    if (LLVMIsAFunction(callee) == NULL) {
        read_own(r, inst, DH_W_NONE, dh_w_operand(r, callee));
        return;
    }
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    if (strncmp(name, "llvm.", 5) == 0) {
        read_intrinsic(r, inst, name);
        return;
    }
    u32 fn = dh_w_table_get(&r->w->fn_of, DH_W_KEY((u64)(uptr)callee));
    if (r->w->fns[fn].defined) {
        read_own(r, inst, fn, DH_W_NONE);
        return;
    }
    const char *effects = dh_w_library(name);
    if (effects == NULL) {
        read_unknown(r, inst);
        return;
    }
    struct dh_w_effect e;
    for (const char *at = effects; dh_w_effect_next(&at, &e);)
        apply(r, inst, &e);
}
