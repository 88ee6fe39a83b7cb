/*
 * unwind.c - can the stack be unwound from here, and into what? And the slow paths of code that can.
 *
 * A C++ exception that is not caught, or that passes through a call which the compiler assumed not to throw,
 * ends the process. So before a race is thrown, or a thread is ended by unwinding, the frames are queried as
 * in the unwinder's first phase: by calling their personality routines. Only the answers of libstdc++'s are
 * interpreted; C frames only have cleanups, in tables of the same format, and the answer for them is the
 * same.
 *
 * The layout of exception objects is that of libstdc++'s ABI, as in intercept/exception.c.
 */
#include <unwind.h>

#include "runtime/engine/exception.h"

enum { LANDING_PAD_BEFORE_HEADER = 16, HEADER_BEFORE_OBJECT = 32, TYPE_BEFORE_HEADER = 80, OBJECT_AT = 128 };

static const u64 CLASS_GNU = 0x474e5543432b2b00; /* "GNUCC++" and a zero */

/* Weak: a program in C has none of this. */
_Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class cls,
                                         struct _Unwind_Exception *e, struct _Unwind_Context *c)
    __attribute__((weak));
extern const char _ZTIi __attribute__((weak)); /* typeid(int) */

struct search {
    struct _Unwind_Exception *e;
    bool passes_handlers; /* handlers do not stop it: the thread is ending */
    enum dh_unwinding found;
};

static uptr *landing_pad(struct _Unwind_Exception *e)
{
    return (uptr *)((char *)e - LANDING_PAD_BEFORE_HEADER);
}

static _Unwind_Reason_Code ask_frame(struct _Unwind_Context *c, void *arg)
{
    struct search *s = arg;
    if (_Unwind_GetLanguageSpecificData(c) == 0)
        return _URC_NO_REASON;
    *landing_pad(s->e) = 0;
    _Unwind_Reason_Code rc = __gxx_personality_v0(1, _UA_SEARCH_PHASE, s->e->exception_class, s->e, c);
    if (rc == _URC_CONTINUE_UNWIND)
        return _URC_NO_REASON;
    bool terminates = rc != _URC_HANDLER_FOUND || *landing_pad(s->e) == 0;
    if (!terminates && s->passes_handlers)
        return _URC_NO_REASON;
    s->found = terminates ? DH_UNWIND_TERMINATES : DH_UNWIND_CAUGHT;
    return _URC_END_OF_STACK; /* enough */
}

enum dh_unwinding dh_unwind_try(void *object)
{
    struct search s = {.e = (struct _Unwind_Exception *)((char *)object - HEADER_BEFORE_OBJECT)};
    if (__gxx_personality_v0 && s.e->exception_class == CLASS_GNU)
        _Unwind_Backtrace(ask_frame, &s);
    return s.found;
}

enum dh_unwinding dh_unwind_try_exit(void)
{
    /* An exception of an arbitrary type: handlers of all types count the same here. */
    _Alignas(16) char object[OBJECT_AT + 16] = {0};
    struct _Unwind_Exception *e = (struct _Unwind_Exception *)(object + OBJECT_AT - HEADER_BEFORE_OBJECT);
    struct search s = {.e = e, .passes_handlers = true};
    e->exception_class = CLASS_GNU;
    *(const void **)((char *)e - TYPE_BEFORE_HEADER) = &_ZTIi;
    if (__gxx_personality_v0 && &_ZTIi)
        _Unwind_Backtrace(ask_frame, &s);
    return s.found;
}

/* ---- Slow paths of code compiled with --dh-exceptions (src/ir/throwing.c) ---- */

#define SIZED(name, size, kind)                                      \
    void __dh_unwind_##name##size(const volatile void *p);           \
    void __dh_unwind_##name##size(const volatile void *p)            \
    {                                                                \
        dh_exception_unwinds(true);                                  \
        dh_quick_access(p, size, kind, __builtin_return_address(0)); \
        dh_exception_unwinds(false);                                 \
    }
#define ANY(name, kind)                                                 \
    void __dh_unwind_##name(const volatile void *p, u64 n);             \
    void __dh_unwind_##name(const volatile void *p, u64 n)              \
    {                                                                   \
        dh_exception_unwinds(true);                                     \
        dh_range_from_code(p, n, 0, kind, __builtin_return_address(0)); \
        dh_exception_unwinds(false);                                    \
    }
#define ALL(name, kind)   \
    SIZED(name, 1, kind)  \
    SIZED(name, 2, kind)  \
    SIZED(name, 4, kind)  \
    SIZED(name, 8, kind)  \
    SIZED(name, 16, kind) \
    ANY(name##_n, kind)   \
    ANY(name##_range, kind | DH_RANGE)

#pragma GCC visibility push(default)
ALL(read, DH_READ)
ALL(write, DH_WRITE)
#pragma GCC visibility pop
