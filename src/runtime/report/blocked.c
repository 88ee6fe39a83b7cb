/*
 * blocked.c - finds the frames on the stack of a waiting thread, without its help.
 *
 * The usual case of a race on another thread's stack is that two workers share a variable of the function
 * that waits for them. The waiting interceptor's own frame is known (scope.c), and gives the registers in its
 * caller at the call. From there outwards each function's return address is known from the shadow stack; its
 * position on the stack is the end of the function's frame. It is where the frame pointer says, or else the
 * next word upwards with that value. That may be a stale copy left by an earlier call, so the reporter checks
 * the frame against the unwind tables, and drops it if they disagree (src/report/local.c).
 *
 * The thread may continue at any moment: its memory is copied through the kernel, and the result is only used
 * if it is still waiting in the same call afterwards.
 */
#include "base/sys.h"
#include "runtime/report/place.h"
#include "runtime/threads/scope.h"
#include "runtime/threads/thread.h"

enum { WORDS = 4096, PLAIN_MAX = 16 };

/* A copy of the stack from the interceptor's frame outwards. */
struct copy {
    uptr lo;
    size_t n;
    uptr words[WORDS];
};

static bool holds(const struct copy *c, uptr at)
{
    return at >= c->lo && at % sizeof(uptr) == 0 && (at - c->lo) / sizeof(uptr) + 1 < c->n;
}

static uptr word(const struct copy *c, uptr at)
{
    return c->words[(at - c->lo) / sizeof(uptr)];
}

/* Ends the frame f, whose function returns to `back`, and finds the frame pointer of its caller. */
static bool end_frame(const struct copy *c, struct dh_place_frame *f, uptr back, uptr *ret_bp)
{
    *ret_bp = f->bp;
    if (f->bp >= f->sp && holds(c, f->bp) && word(c, f->bp + sizeof(uptr)) == back) {
        f->cfa = f->bp + 2 * sizeof(uptr);
        *ret_bp = word(c, f->bp);
        return true;
    }
    for (uptr at = f->sp; holds(c, at); at += sizeof(uptr)) {
        if (word(c, at) == back) {
            f->cfa = at + sizeof(uptr);
            return true;
        }
    }
    return false;
}

static bool walk(const struct copy *c, const struct dh_thread *t, const struct dh_frame *base, uptr addr,
                 struct dh_place_frame *ret)
{
    struct dh_place_frame f = {.pc = c->words[1], .sp = c->lo + 2 * sizeof(uptr), .bp = c->words[0]};
    const struct dh_frame *top = base; /* frames of plain code may be above it */
    while ((uptr)top->pc != f.pc && top - base < PLAIN_MAX && top + 1 < t->frames + t->frames_n)
        top++;
    if ((uptr)top->pc != f.pc)
        return false;
    while (addr >= f.sp && top-- > t->frames) {
        uptr bp;
        if (!end_frame(c, &f, (uptr)top->pc, &bp))
            return false;
        if (addr < f.cfa) {
            *ret = f;
            return true;
        }
        f = (struct dh_place_frame){.pc = (uptr)top->pc, .sp = f.cfa, .bp = bp};
    }
    return false;
}

static const struct dh_thread *find_thread(dh_uid_t uid)
{
    const struct dh_thread *t = dh_threads;
    while (t && !dh_uid_eq(t->uid, uid))
        t = t->next;
    return t;
}

void dh_blocked_find(uptr addr, dh_uid_t uid, struct dh_place_frame *ret)
{
    static struct copy c;
    struct dh_scope sc;
    struct dh_place_frame found = {0};
    dh_lock_take(&dh_threads_lock); /* while it is held, the thread does not end */
    const struct dh_thread_info *info = dh_thread_info(uid);
    const struct dh_thread *t = find_thread(uid);
    const struct dh_scope *at = t && info && info->alive ? dh_scope_blocked(t->slot) : NULL;
    if (at && dh_sys_peek((uptr)at, &sc, sizeof(sc)) && sc.t == t && sc.frame >= t->frames &&
        sc.frame < t->frames + t->frames_n && (uptr)sc.bp % sizeof(uptr) == 0 &&
        (uptr)sc.bp >= info->stack_lo && (uptr)sc.bp < addr && addr < info->stack_hi) {
        c.lo = (uptr)sc.bp;
        c.n = (info->stack_hi - c.lo) / sizeof(uptr);
        c.n = c.n < WORDS ? c.n : WORDS;
        if (c.n > 2 && dh_sys_peek(c.lo, c.words, c.n * sizeof(uptr)) &&
            walk(&c, t, sc.frame, addr, &found) && dh_scope_blocked(t->slot) == at)
            *ret = found;
    }
    dh_lock_drop(&dh_threads_lock);
}
