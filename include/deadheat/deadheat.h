/*
 * deadheat.h - attributes by which a program can control deadheat.
 *
 * Including this header costs nothing: it only defines attributes, which have no effect in a build without
 * instrumentation.
 */
#ifndef DEADHEAT_H
#define DEADHEAT_H

/*
 * DH_UNTRACKED on a function leaves its body alone: no access in it is checked or recorded. It
 * also keeps the function out of line, because inlined code would be treated as its caller's.
 * Synchronisation inside it still counts, since the calls that synchronise are intercepted.
 */
#if defined(__clang__)
#define DH_UNTRACKED __attribute__((annotate("deadheat::untracked"), no_sanitize("thread"), noinline))
#elif defined(__GNUC__)
/* gcc never inlines such a function into an instrumented one, and warns about noinline combined with
 * inline. */
#define DH_UNTRACKED __attribute__((no_sanitize_thread))
#else
#define DH_UNTRACKED
#endif

#endif
