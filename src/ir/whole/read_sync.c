/*
 * read_sync.c - what library functions do with threads, locks and functions passed to them.
 */
#include <string.h>

#include "ir/whole/read_call.h"

struct dh_w_op *dh_w_read_fork(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind,
                               dh_w_value handle, dh_w_value callee, dh_w_value arg)
{
    u32 call = dh_w_call_add(r, DH_W_NONE, callee, 1);
    r->fn->calls[call].args[0] = arg;
    struct dh_w_op *op = dh_w_op_add(r, kind, inst);
    op->call = call;
    op->a = handle;
    return op;
}

/* std::thread::_M_start_thread(this, unique_ptr<_State>, ...): calls state->_M_run(), the third virtual
 * function. */
static void fork_state(struct dh_w_reader *r, LLVMValueRef inst)
{
    enum { THIRD = 16 };
    dh_w_value state = dh_w_op_loaded(r, inst, dh_w_argument(r, inst, 1), 0);
    dh_w_value run = dh_w_op_loaded(r, inst, dh_w_op_loaded(r, inst, state, 0), THIRD);
    dh_w_read_fork(r, inst, DH_W_FORK, dh_w_argument(r, inst, 0), run, state);
}

static bool starts_from(LLVMValueRef inst, LLVMValueRef state)
{
    size_t len;
    if (LLVMIsACallInst(inst) == NULL && LLVMIsAInvokeInst(inst) == NULL)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    const char *effects = dh_w_library(LLVMGetValueName2(callee, &len));
    return effects != NULL && strcmp(effects, "stdfork") == 0 && LLVMGetOperand(inst, 1) == state;
}

/* The one block that leads to a block, or NULL. */
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef bb)
{
    LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(bb));
    if (u == NULL || LLVMGetNextUse(u) != NULL || LLVMIsAInstruction(LLVMGetUser(u)) == NULL)
        return NULL;
    return LLVMGetInstructionParent(LLVMGetUser(u));
}

bool dh_w_read_is_handed_over(LLVMValueRef inst)
{
    LLVMValueRef state = LLVMGetOperand(inst, 0), i = inst;
    LLVMBasicBlockRef bb = LLVMGetInstructionParent(inst), before;
    if (LLVMIsAAllocaInst(state) == NULL)
        return false;
    while ((i = LLVMGetPreviousInstruction(i)) != NULL) {
        if (starts_from(i, state))
            return true;
        if (LLVMIsAStoreInst(i) != NULL || LLVMIsACallInst(i) != NULL)
            return false;
    }
    before = only_predecessor(bb);
    LLVMValueRef end = before == NULL ? NULL : LLVMGetBasicBlockTerminator(before);
    return end != NULL && LLVMIsAInvokeInst(end) != NULL && LLVMGetNormalDest(end) == bb &&
           starts_from(end, state);
}

static void join_thread(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value handle, dh_w_value result)
{
    dh_w_op_unary(r, inst, DH_W_JOIN, DH_W_NONE, handle)->b = result;
}

/* What a branch finds out behind the call. */
static void remember_try(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_table_put(&r->tries, DH_W_KEY((u64)(uptr)inst), (u32)r->fn->n_ops - 1);
}

static void lock(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    enum dh_w_kind kind = e->kind == DH_W_EFFECT_UNLOCK ? DH_W_UNLOCK
                          : e->kind == DH_W_EFFECT_WAIT ? DH_W_WAIT
                          : e->tries                    ? DH_W_TRYLOCK
                                                        : DH_W_LOCK;
    struct dh_w_op *op = dh_w_op_unary(r, inst, kind, DH_W_NONE, dh_w_argument(r, inst, e->n));
    op->lock_kind = e->lock_kind;
    op->flags |= e->shared ? DH_W_SHARED : 0;
    if (kind == DH_W_TRYLOCK)
        remember_try(r, inst);
}

static void call_back(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value callee = dh_w_argument(r, inst, e->n);
    if (callee == DH_W_NONE)
        return;
    u32 call = dh_w_call_add(r, DH_W_NONE, callee, (u32)e->n_args);
    for (int i = 0; i < e->n_args; i++) {
        dh_w_value a = e->args[i] == DH_W_EFFECT_SENT ? dh_w_op_loaded(r, inst, dh_w_read_channel(r, inst), 0)
                       : e->args[i] == DH_W_EFFECT_WHERE ? dh_w_read_channel(r, inst)
                                                         : dh_w_argument(r, inst, e->args[i]);
        if (e->into[i] && a != DH_W_NONE) {
            dh_w_value any = dh_w_fresh(r);
            dh_w_op_unary(r, inst, DH_W_ANY, any, a);
            a = any;
        }
        r->fn->calls[call].args[i] = a;
    }
    dh_w_op_add(r, e->kind == DH_W_EFFECT_LATE ? DH_W_LATE : DH_W_BACK, inst)->call = call;
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

/* Whether the variable is the guard of a static variable in a function: the compiler has it acquired. */
static bool is_guard(LLVMValueRef variable)
{
    if (LLVMIsAGlobalVariable(variable) == NULL)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(variable); u != NULL; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        size_t len;
        if (LLVMIsACallInst(user) != NULL &&
            strcmp(LLVMGetValueName2(LLVMGetCalledValue(user), &len), "__cxa_guard_acquire") == 0)
            return true;
    }
    return false;
}

/*
 * A static variable in a C++ function is initialised as by pthread_once (call_once above); library.def has
 * the calls of the slow path. Before them the code looks whether the guard's first byte is set, which it is
 * when the variable is initialised, and so for good: that is to try a lock for reading.
 */
void dh_w_read_guard(struct dh_w_reader *r, LLVMValueRef load)
{
    LLVMAtomicOrdering order = LLVMGetOrdering(load);
    LLVMValueRef guard = LLVMGetOperand(load, 0);
    if ((order != LLVMAtomicOrderingAcquire && order != LLVMAtomicOrderingSequentiallyConsistent) ||
        !is_guard(guard))
        return;
    struct dh_w_op *op = dh_w_op_unary(r, load, DH_W_TRYLOCK, DH_W_NONE, dh_w_operand(r, guard));
    op->lock_kind = DH_PAIRS_OTHER_LOCK;
    op->flags |= DH_W_SHARED;
    remember_try(r, load);
}

/* The events of a base are called back: see instance.c. */
static void poll(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value base)
{
    if (base == DH_W_NONE)
        return;
    u32 call = dh_w_call_add(r, DH_W_NONE, dh_w_op_loaded(r, inst, base, 0), 0);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_BACK, inst);
    op->call = call;
    op->flags |= DH_W_POLLS;
}

static void set_handler(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value handler)
{
    if (handler != DH_W_NONE)
        dh_w_read_fork(r, inst, DH_W_SIGNAL, DH_W_NONE, handler, DH_W_NONE);
}

/* A struct sigevent: a value at 0 and a function at 16, which threads are started with, each time something
 * happens. */
static void notify(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value event, int at)
{
    if (event == DH_W_NONE)
        return;
    dh_w_value value = dh_w_op_loaded(r, inst, event, at), function = dh_w_op_loaded(r, inst, event, at + 16);
    dh_w_read_fork(r, inst, DH_W_FORK, DH_W_NONE, function, value)->flags |= DH_W_OFTEN;
    dh_w_read_post(r, inst, value); /* or it goes to a signal handler */
}

bool dh_w_read_sync(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_effect *e)
{
    dh_w_value n = dh_w_argument(r, inst, e->n), m = dh_w_argument(r, inst, e->m);
    switch (e->kind) {
    case DH_W_EFFECT_LOCK:
    case DH_W_EFFECT_UNLOCK:
    case DH_W_EFFECT_WAIT:
        lock(r, inst, e);
        return true;
    case DH_W_EFFECT_ONCE:
        call_once(r, inst, e);
        return true;
    case DH_W_EFFECT_RENEW:
        dh_w_op_unary(r, inst, DH_W_RENEW, DH_W_NONE, n);
        return true;
    case DH_W_EFFECT_BARRIER:
        dh_w_op_unary(r, inst, DH_W_BARRIER, DH_W_NONE, n);
        return true;
    case DH_W_EFFECT_AGAIN:
        dh_w_op_add(r, DH_W_AGAIN, inst);
        remember_try(r, inst);
        return true;
    case DH_W_EFFECT_FORK:
        dh_w_read_fork(r, inst, DH_W_FORK, n, m, dh_w_argument(r, inst, e->k));
        return true;
    case DH_W_EFFECT_STDFORK:
        fork_state(r, inst);
        return true;
    case DH_W_EFFECT_JOIN:
        join_thread(r, inst, n, m);
        return true;
    case DH_W_EFFECT_RESULT:
        dh_w_op_unary(r, inst, DH_W_RESULT, DH_W_NONE, n)->b = m;
        return true;
    case DH_W_EFFECT_STDJOIN:
        join_thread(r, inst, dh_w_op_loaded(r, inst, dh_w_argument(r, inst, 0), 0), DH_W_NONE);
        return true;
    case DH_W_EFFECT_SIGNAL:
        set_handler(r, inst, n);
        return true;
    case DH_W_EFFECT_SIGACTION:
        set_handler(r, inst, dh_w_op_loaded(r, inst, n, 0));
        return true;
    case DH_W_EFFECT_CALL:
    case DH_W_EFFECT_LATE:
        call_back(r, inst, e);
        return true;
    case DH_W_EFFECT_OUTSIDER:
        if (n != DH_W_NONE)
            dh_w_read_fork(r, inst, DH_W_OUTSIDER, DH_W_NONE, n, m);
        return true;
    case DH_W_EFFECT_POLL:
        poll(r, inst, n);
        return true;
    case DH_W_EFFECT_NOTIFY:
        notify(r, inst, n, e->m > 0 ? e->m : 0);
        return true;
    case DH_W_EFFECT_EXIT:
        dh_w_op_unary(r, inst, DH_W_EXIT, DH_W_NONE, n);
        return true;
    case DH_W_EFFECT_STOP:
        dh_w_op_add(r, DH_W_STOP, inst);
        return true;
    default:
        return false;
    }
}
