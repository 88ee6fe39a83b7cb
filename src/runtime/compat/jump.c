/*
 * compat/jump.c - longjmp out of code compiled with -fsanitize=thread.
 *
 * Functions that our pass instruments repair the shadow call stack themselves, where setjmp returns
 * (__dh_reenter). Those of other compilers do not, and call an exit for each entry: frames left behind would
 * stay forever. So the frames that a jump skips are dropped when it is made.
 *
 * The stack pointers that __tsan_func_entry has stored in the frames tell which those are. The function that
 * called setjmp, or its nearest caller that is instrumented, is the one whose stack pointer is the least
 * above that of the jmp_buf; every frame above its own on the shadow stack is skipped. The nearest one, and
 * not the first one found above: a handler on an alternate stack may lie anywhere. Only the low 32 bits are
 * kept; stacks that are a multiple of 4 GB apart to the byte do not happen, and would cost wrong stacks in
 * reports.
 *
 * The real functions unwind nothing and take no locks, so no scope is entered.
 */
#include <setjmp.h>

#include "runtime/compat/compat.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/thread.h"

enum { JMPBUF_RSP = 6 }; /* glibc's order of registers on x86-64, a part of its ABI */

/* glibc keeps the stack pointer rotated, and combined with a secret in the thread's control block. */
static uptr stack_pointer(const struct __jmp_buf_tag *env)
{
    uptr kept = (uptr)env->__jmpbuf[JMPBUF_RSP], secret;
    __asm__("mov %%fs:0x30, %0" : "=r"(secret));
    return (kept >> 17 | kept << 47) ^ secret;
}

static void drop_frames(const struct __jmp_buf_tag *env)
{
    const struct dh_thread *t = __dh_hot.self;
    if (!t || !dh_compat_modules || !t->frames)
        return;
    u32 target = (u32)stack_pointer(env), nearest = UINT32_MAX >> 1;
    struct dh_frame *keep = NULL;
    for (struct dh_frame *f = __dh_hot.sp; f-- > t->frames;) {
        u32 above = f->pad - target;
        if (above < nearest) {
            nearest = above;
            keep = f;
        }
    }
    if (keep)
        __dh_hot.sp = keep + 1;
}

#define JUMP(name)          \
    DH_RESOLVE(name);       \
    drop_frames(env);       \
    REAL(name)(env, value); \
    __builtin_unreachable()

DH_INTERCEPTOR(void, longjmp, struct __jmp_buf_tag env[1], int value)
{
    JUMP(longjmp);
}

DH_INTERCEPTOR(void, _longjmp, struct __jmp_buf_tag env[1], int value)
{
    JUMP(_longjmp);
}

DH_INTERCEPTOR(void, siglongjmp, struct __jmp_buf_tag env[1], int value)
{
    JUMP(siglongjmp);
}

DH_INTERCEPTOR(void, __longjmp_chk, struct __jmp_buf_tag env[1], int value)
{
    JUMP(__longjmp_chk);
}
