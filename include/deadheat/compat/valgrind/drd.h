/*
 * In front of Valgrind's own <valgrind/drd.h>, if that is installed: its macros with what they mean for
 * deadheat. See deadheat/annotations.h.
 */
#if __has_include_next(<valgrind/drd.h>)
#include_next <valgrind/drd.h>
#endif
#ifndef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND 0
#endif
#include <deadheat/annotations.h>
