/*
 * Included instead of Valgrind's own <valgrind/helgrind.h> (and including it, if installed): redefines its
 * macros for deadheat. See deadheat/annotations.h.
 */
#if __has_include_next(<valgrind/helgrind.h>)
#include_next <valgrind/helgrind.h>
#endif
#ifndef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND 0
#endif
#include <deadheat/annotations.h>
