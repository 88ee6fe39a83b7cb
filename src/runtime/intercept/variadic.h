/*
 * variadic.h - interceptors of functions that come in two forms, with `...` and with a va_list.
 *
 * The work of both is in a static function that takes the caller's address, because the caller is what a
 * report must show; it is entered with DH_ENTER_AT.
 */
#ifndef DH_RUNTIME_INTERCEPT_VARIADIC_H
#define DH_RUNTIME_INTERCEPT_VARIADIC_H

#include <stdarg.h>

#include "runtime/threads/scope.h"

#define DH_CALLER __builtin_return_address(0)

/* As DH_ENTER, for the function at pc. */
#define DH_ENTER_AT(pc, name, ...) \
    DH_RESOLVE(name);              \
    DH_SCOPE(sc);                  \
    if (!dh_scope_begin(&sc, pc))  \
    return REAL(name)(__VA_ARGS__)

/* The body of a variadic function: call, with the arguments after `last` as ap. */
#define DH_WITH_ARGUMENTS(last, call) \
    va_list ap;                       \
    va_start(ap, last);               \
    int r = call;                     \
    va_end(ap);                       \
    return r

#endif
