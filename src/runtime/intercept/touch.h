/*
 * touch.h - how the interceptors of libc functions say which bytes of the program's memory the call
 * reads and writes. Each is one check for the whole range, made by the function that called libc.
 */
#ifndef DH_RUNTIME_INTERCEPT_TOUCH_H
#define DH_RUNTIME_INTERCEPT_TOUCH_H

#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"
#include "runtime/threads/thread.h"

DH_INLINE void dh_touch_read(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (n != 0)
        dh_sink_access(t, p, n, DH_READ | DH_RANGE);
}

DH_INLINE void dh_touch_write(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (n != 0)
        dh_sink_access(t, p, n, DH_WRITE | DH_RANGE);
}

/* The same for pointers that the program may leave NULL. */
DH_INLINE void dh_touch_in(struct dh_thread *t, const volatile void *p, size_t n)
{
    dh_touch_read(t, p, p != NULL ? n : 0);
}

DH_INLINE void dh_touch_out(struct dh_thread *t, const volatile void *p, size_t n)
{
    dh_touch_write(t, p, p != NULL ? n : 0);
}

/*
 * The body of an interceptor whose ranges are known before the call: say what is touched (an expression that
 * uses sc.t), leave the runtime, call the real function. A fault on a bad pointer is then the program's own,
 * and signals wait no longer than the check takes. In an untracked region (lard.h) there is nothing to say.
 */
#define DH_TOUCH_THEN_CALL(name, touch, ...)       \
    DH_RESOLVE(name);                              \
    if (__dh_hot.self && __dh_hot.self->untracked) \
        return REAL(name)(__VA_ARGS__);            \
    DH_ENTER(name, __VA_ARGS__);                   \
    touch;                                         \
    dh_scope_end(&sc);                             \
    return REAL(name)(__VA_ARGS__)

#define DH_TOUCH_IN(t, p) dh_touch_in((t), (p), sizeof *(p))
#define DH_TOUCH_OUT(t, p) dh_touch_out((t), (p), sizeof *(p))

#endif
