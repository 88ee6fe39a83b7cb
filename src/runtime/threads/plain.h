/*
 * plain.h - frames of plain code, which keeps no shadow stack.
 *
 * When an instrumented function calls a plain one, std::string::append in libstdc++ say, or one of an object
 * that another compiler made, and that calls memcpy, the shadow stack knows the place in the plain function
 * but not the one in the caller: it would have been pushed by the callee. An interceptor that is called from
 * plain code asks for the missing frames.
 */
#ifndef DH_RUNTIME_THREADS_PLAIN_H
#define DH_RUNTIME_THREADS_PLAIN_H

#include "runtime/threads/scope.h"

/* Return addresses in code that is known to need no help, because it is instrumented or because nothing can
 * be found out. Written and read by all threads; what is not in it any more is found out again. */
enum { DH_PLAIN_ENDS = 16384 };
extern DH_HIDDEN uptr dh_plain_ends[DH_PLAIN_ENDS];

/* Calls are longer than four bytes as a rule, and those of one loop are near each other. */
DH_INLINE uptr *dh_plain_end(uptr pc)
{
    return &dh_plain_ends[pc / 4 % DH_PLAIN_ENDS];
}

/* May frames be missing below one whose function returns to pc? */
DH_INLINE bool dh_plain_may(const void *pc)
{
    return __atomic_load_n(dh_plain_end((uptr)pc), __ATOMIC_RELAXED) != (uptr)pc;
}

/* Puts the missing frames below that of sc. bp is the interceptor's frame pointer. */
DH_COLD void dh_plain_complete(struct dh_scope *sc, const uptr *bp);

/* The context in which the function that pushed f was called; it differs from that of the frame below, which
 * is given, if plain code made the call. f is one of t's frames up to top, and not the lowest. */
DH_COLD dh_ctx_t dh_plain_caller(struct dh_thread *t, const struct dh_frame *f, const struct dh_frame *top,
                                 dh_ctx_t below);

/* Modules were unloaded: what was learned about their code may be wrong. */
void dh_plain_forget(void);

#endif
