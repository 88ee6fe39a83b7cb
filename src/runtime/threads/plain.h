/*
 * plain.h - frames of uninstrumented ("plain") code, which keeps no shadow stack.
 *
 * When an instrumented function calls a plain one (such as std::string::append in libstdc++, or a function
 * from another compiler's object file) and that calls memcpy, the shadow stack has the call in the plain
 * function but not the one in its caller: the callee would have pushed it. An interceptor called from plain
 * code asks for the missing frames.
 */
#ifndef DH_RUNTIME_THREADS_PLAIN_H
#define DH_RUNTIME_THREADS_PLAIN_H

#include "runtime/threads/scope.h"

/* Return addresses in code that is known to need no walk, because it is instrumented or because a walk finds
 * nothing. Written and read by all threads; an evicted entry is determined again. */
enum { DH_PLAIN_ENDS = 16384 };
extern DH_HIDDEN uptr dh_plain_ends[DH_PLAIN_ENDS];

/* Call instructions are usually longer than four bytes, and those of one loop are close together. */
DH_INLINE uptr *dh_plain_end(uptr pc)
{
    return &dh_plain_ends[pc / 4 % DH_PLAIN_ENDS];
}

/* May frames be missing below one whose function returns to pc? */
DH_INLINE bool dh_plain_may(const void *pc)
{
    return __atomic_load_n(dh_plain_end((uptr)pc), __ATOMIC_RELAXED) != (uptr)pc;
}

/* Inserts the missing frames below that of sc. bp is the interceptor's frame pointer. */
DH_COLD void dh_plain_complete(struct dh_scope *sc, const uptr *bp);

/* The context in which the function that pushed f was called; it differs from that of the frame below (passed
 * in) if plain code made the call. f is one of t's frames up to top, and not the lowest. */
DH_COLD dh_ctx_t dh_plain_caller(struct dh_thread *t, const struct dh_frame *f, const struct dh_frame *top,
                                 dh_ctx_t below);

/* Modules were unloaded: what was learned about their code may be wrong. */
void dh_plain_forget(void);

#endif
