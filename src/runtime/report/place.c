/*
 * place.c - see place.h.
 *
 * A stack address belongs to the activation of some function. If it is on the stack of the thread that found
 * the race, unwinding tells which one. Another thread's stack is examined only while that thread waits in an
 * interceptor, whose frame is known (blocked.c). The frame is reported with the registers that debug
 * information may use to describe its variables.
 */
#include "runtime/report/place.h"

#include <unwind.h>

#include "runtime/threads/thread.h"

enum { DWARF_RBP = 6, FRAMES_MAX = 4096 };

struct walk {
    bool (*fn)(void *ctx, const struct dh_place_frame *f); /* called with each frame; false: stop */
    void *ctx;
    struct dh_place_frame last; /* the frame before, whose end is not known yet */
    u32 frames;
};

/* Called with each frame, innermost first. What the unwinder calls the frame's CFA is its stack pointer at
 * the call, and thereby the CFA of the frame before. */
static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    int before = 0;
    uptr sp = _Unwind_GetCFA(context), pc = _Unwind_GetIPInfo(context, &before);
    w->last.cfa = sp;
    if (w->last.pc && !w->fn(w->ctx, &w->last))
        return _URC_NORMAL_STOP;
    /* An interrupted frame has no return address; the reader of the record looks one byte before it. */
    w->last = (struct dh_place_frame){
        .pc = before ? pc + 1 : pc, .sp = sp, .bp = _Unwind_GetGR(context, DWARF_RBP)};
    return ++w->frames < FRAMES_MAX ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

struct wanted {
    uptr addr;
    struct dh_place_frame *found;
};

static bool is_elsewhere(void *ctx, const struct dh_place_frame *f)
{
    struct wanted *w = ctx;
    if (w->addr < f->sp || w->addr >= f->cfa)
        return true;
    *w->found = *f;
    return false;
}

/* Passes frames on, beginning with the one at `pc`. */
struct outer {
    uptr pc;
    bool begun;
    bool (*fn)(void *ctx, const struct dh_place_frame *f);
    void *ctx;
};

static bool pass_on(void *ctx, const struct dh_place_frame *f)
{
    struct outer *o = ctx;
    o->begun = o->begun || f->pc == o->pc;
    return !o->begun || o->fn(o->ctx, f);
}

void dh_place_each_frame(uptr pc, bool (*fn)(void *ctx, const struct dh_place_frame *f), void *ctx)
{
    struct outer o = {.pc = pc, .fn = fn, .ctx = ctx};
    struct walk w = {.fn = pass_on, .ctx = &o};
    _Unwind_Backtrace(look_at, &w);
}

/* Whose stack or thread-local storage is it? Live threads first: memory is reused. The latter grows downwards
 * as libraries are opened (modules.c), into memory that otherwise counts as stack. */
static bool find_owner(uptr addr, dh_uid_t self, struct dh_place *ret)
{
    dh_modules_take();
    uptr tp = 0, depth = dh_modules_tls_depth();
    dh_modules_drop();
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *here = dh_thread_info(self);
    uptr above = here ? here->tls_hi - (uptr)__builtin_thread_pointer() : 0; /* the same for all */
    for (u32 n = dh_thread_uids(); n-- > 1;) {
        const struct dh_thread_info *i = dh_thread_info(dh_uid_from(n));
        bool in_stack = addr >= i->stack_lo && addr < i->stack_hi;
        bool stack_has_tls = i->tls_lo >= i->stack_lo && i->tls_lo < i->stack_hi;
        bool tls = addr < i->tls_hi && (addr >= i->tls_lo || addr >= i->tls_hi - above - depth);
        tls = tls && (in_stack || !stack_has_tls); /* its end is a guess, and another thread's may follow */
        if (!tls && !in_stack)
            continue;
        if (dh_uid_is_none(ret->uid) || i->alive) {
            ret->uid = i->uid;
            ret->kind = tls ? DH_PLACE_TLS : DH_PLACE_STACK;
            ret->from_top = i->stack_hi - addr;
            tp = i->tls_hi - above;
        }
        if (i->alive)
            break;
    }
    dh_lock_drop(&dh_threads_lock);
    if (ret->kind == DH_PLACE_TLS && addr < tp) {
        dh_modules_take();
        ret->module = dh_modules_find_tls(tp - addr, &ret->offset);
        dh_modules_drop();
    }
    return !dh_uid_is_none(ret->uid);
}

/* The thread pointer of a live thread, 0 if it is not known. Under dh_threads_lock. */
static uptr thread_pointer(dh_uid_t uid, dh_uid_t self)
{
    const struct dh_thread_info *here = dh_thread_info(self), *i = dh_thread_info(uid);
    if (!here || !i || !i->alive)
        return 0;
    return i->tls_hi - (here->tls_hi - (uptr)__builtin_thread_pointer()); /* the same distance in all */
}

/* A thread-local variable of a library that was opened later is on the heap: the linker allocates it when the
 * thread first uses it. */
static bool find_dynamic_tls(uptr addr, dh_uid_t self, struct dh_place *ret)
{
    dh_lock_take(&dh_threads_lock);
    uptr tp = thread_pointer(ret->block.uid, self);
    dh_lock_drop(&dh_threads_lock);
    if (!tp || ret->block.freed)
        return false;
    dh_modules_take();
    ret->module = dh_modules_find_dynamic_tls(tp, addr, &ret->offset);
    dh_modules_drop();
    if (!ret->module)
        return false;
    ret->kind = DH_PLACE_TLS;
    ret->uid = ret->block.uid;
    return true;
}

static _Unwind_Reason_Code stop_at_once(struct _Unwind_Context *context, void *arg)
{
    (void)context;
    (void)arg;
    return _URC_NORMAL_STOP;
}

void dh_place_init(void)
{
    _Unwind_Backtrace(stop_at_once, NULL);
}

void dh_place_find(uptr addr, dh_uid_t self, struct dh_place *ret)
{
    *ret = (struct dh_place){0};
    if (dh_heap_find(addr, &ret->block)) {
        if (!find_dynamic_tls(addr, self, ret))
            ret->kind = DH_PLACE_HEAP;
        return;
    }
    if (find_owner(addr, self, ret)) {
        struct wanted frame = {addr, &ret->frame};
        struct walk w = {.fn = is_elsewhere, .ctx = &frame};
        if (ret->kind == DH_PLACE_STACK && dh_uid_eq(ret->uid, self))
            _Unwind_Backtrace(look_at, &w);
        else if (ret->kind == DH_PLACE_STACK)
            dh_blocked_find(addr, ret->uid, &ret->frame);
        return;
    }
    dh_modules_take();
    ret->module = dh_modules_find(addr);
    dh_modules_drop();
    if (ret->module) {
        ret->kind = DH_PLACE_GLOBAL;
        ret->offset = addr - ret->module->bias;
    }
}
