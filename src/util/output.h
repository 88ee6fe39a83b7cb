/*
 * output.h - where a command writes: standard output, or a file that it was asked to make.
 *
 * Both are streams that remember the first error, so that a command may print as it likes and is asked once,
 * at its end, whether all of it arrived.
 *
 * A file is written beside its name, as NAME.part, and gets its name when it is complete: a command that
 * fails or is killed leaves what was there before. The part is locked while it is written, so that two
 * commands cannot write one file. An output that is also an input is refused, by device and inode, whatever
 * its name. What is no regular file (a pipe, a terminal, a device) is written as it is, and so is a file that
 * is open already (/dev/stdout), or one that may be written but not replaced: in a directory of others, or
 * another user's.
 */
#ifndef DH_UTIL_OUTPUT_H
#define DH_UTIL_OUTPUT_H

#include <stdio.h>

#include "util/arena.h"

struct dh_output {
    FILE *stream;
    int fd;          /* under it; of a file that is not in place it can be read too */
    int error;       /* of the first write that failed, as a negative errno; 0: none did */
    const char *why; /* after a failure: the reason, for a sentence */
    char *target;    /* the file to be made, and */
    char *part;      /* its name until then; NULL: it is written in place */
};

/* Standard output becomes such a stream, for everything that is printed. Descriptors 0 to 2 that are closed
 * are taken, lest a file of ours be opened as one of them; programs that are started find them closed. */
void dh_output_begin_standard(void);
/* Flushes it. 0, or the error of the first write that failed, as a negative errno. */
int dh_output_end_standard(void);
/* Is standard output a file with this name, too? Then it must not be an input. */
bool dh_output_is_standard(const char *path);

/* Is a file of this name, written as an output, one of these inputs? For what others write. */
bool dh_output_is_input(const char *path, const char *const *inputs, size_t n_inputs);
/* NULL if a program that appends to this file will be able to, or why it will not. The file is made if there
 * is none. */
const char *dh_output_appendable(const char *path);
/* 0, or -1 with o->why. `inputs` are names of files that the command reads ("-": standard input). */
int dh_output_open(struct dh_output *o, struct dh_arena *arena, const char *path, const char *const *inputs,
                   size_t n_inputs);
/* Complete: the file gets its name. 0, or -1 with o->why, and there is no new file. */
int dh_output_commit(struct dh_output *o);
/* Ends without it. What was written so far is removed, unless it is to be kept. Nothing to do if it was not
 * opened. */
void dh_output_abandon(struct dh_output *o, bool keep);

#endif
