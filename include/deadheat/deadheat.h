/*
 * deadheat.h - what a program may say to deadheat.
 *
 * Including this header costs nothing: it declares attributes only, which mean nothing to compilers
 * that watch no accesses.
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
/* gcc inlines no such function into one that it instruments, and warns of a noinline beside inline. */
#define DH_UNTRACKED __attribute__((no_sanitize_thread))
#else
#define DH_UNTRACKED
#endif

#endif
