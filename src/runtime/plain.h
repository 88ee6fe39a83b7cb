/*
 * plain.h - frames of plain code, which keeps no shadow stack.
 *
 * When an instrumented function calls a plain one, std::string::append in libstdc++ say, and that calls
 * memcpy, the shadow stack knows the place in the plain function but not the one in the caller: it would have
 * been pushed by the callee. The two are told apart by where the call comes from.
 */
#ifndef DH_RUNTIME_PLAIN_H
#define DH_RUNTIME_PLAIN_H

#include "runtime/scope.h"

struct dh_plain_image {
    uptr lo, size;
};
/* The program. Its code is taken for instrumented, which keeps the usual case short. */
extern DH_HIDDEN struct dh_plain_image dh_plain_program;
/* libgcc, if it is a module of its own: the unwinder, which holds its locks while it calls out. */
extern DH_HIDDEN struct dh_plain_image dh_plain_unwinder;

/* Lets the unwinder prepare itself. Later it might be asked to unwind from its own preparations. */
void dh_plain_init(void);

/* Puts the missing frames below that of sc. slot is where the return address of the interceptor is. */
DH_COLD void dh_plain_complete(struct dh_scope *sc, const uptr *slot);

/* Modules were unloaded: what was learned about their code may be wrong. */
void dh_plain_forget(void);

#endif
