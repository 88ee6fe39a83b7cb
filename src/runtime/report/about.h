/*
 * about.h - what a process reports about itself besides its races: how it was started, when, where, and for
 * which test.
 */
#ifndef DH_RUNTIME_REPORT_ABOUT_H
#define DH_RUNTIME_REPORT_ABOUT_H

#include "base/fmt.h"

enum { DH_ABOUT_NAME_MAX = 4096 };

/* The beginning of a file, up to cap bytes; 0 if there is none. */
size_t dh_about_read(const char *path, char *ret, size_t cap);
/* The rest of s after the prefix `before`, or NULL if s does not begin with it. */
const char *dh_about_behind(const char *s, const char *before);
/* A list of words in JSON. Each of them ends with a zero, and there is a zero after the n bytes. */
void dh_about_put_words(struct dh_fmt *line, const char *words, size_t n);
/* Remembers which test this is, from the environment as it is at the start, before the program can change
 * it. */
void dh_about_init(char **envp);
/* The members `args`, `started`, `host`, and `test` or `ctest`, of a process line, each after a comma. */
void dh_about_put(struct dh_fmt *line);
/* A file name with %p, %e and %t replaced by the pid, the name of the program and the time of its start in
 * seconds; %% is a percent sign. */
void dh_about_expand(const char *pattern, char ret[DH_ABOUT_NAME_MAX]);

#endif
