/*
 * stack.h - a stack that is large enough, whatever `ulimit -s` says.
 */
#ifndef DH_UTIL_STACK_H
#define DH_UTIL_STACK_H

/* Calls fn and returns what it returns: on the stack it finds, or on one of its own if that is too small.
 * Threads started meanwhile have stacks of that size, too. Programs still inherit the limit. Once in a
 * process. */
int dh_stack_call(int (*fn)(int argc, char **argv), int argc, char **argv);

#endif
