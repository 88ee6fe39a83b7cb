/*
 * output.h - where a command writes: standard output, or a file that it was asked to create.
 *
 * Both are streams that remember the first error, so that a command may print freely and only checks at the
 * end whether everything was written.
 *
 * A file is written as NAME.part and renamed when it is complete: a command that fails or is killed leaves
 * the previous file intact. The part is locked while it is being written, so that two commands cannot write
 * the same file. An output that is also an input of this command, by device and inode, is refused; which
 * files these are is said to dh_output_reads, so that every output is held against every input. Anything
 * that is not a regular file (a pipe, a terminal, a device) is written in place, and so is a file that is
 * already open
 * (/dev/stdout), or one that may be written but not replaced: in a directory without write permission, or
 * owned by another user.
 */
#ifndef DH_UTIL_OUTPUT_H
#define DH_UTIL_OUTPUT_H

#include <stdio.h>

#include "util/arena.h"

struct dh_output {
    FILE *stream;
    int fd;          /* underlying; readable too, unless the file is written in place */
    int error;       /* of the first failed write, as a negative errno; 0: none failed */
    const char *why; /* after a failure: the reason, for a sentence */
    char *target;    /* the file to be created, and */
    char *part;      /* its name until then; NULL: it is written in place */
};

/* Standard output becomes such a stream, for everything that is printed. Closed descriptors among 0 to 2 are
 * occupied, so that no file of ours is opened as one of them; child programs still find them closed. From now
 * on a file size limit is an error of the write, for this process only. */
void dh_output_begin_standard(void);
/* Flushes it. 0, or the error of the first write that failed, as a negative errno. */
int dh_output_end_standard(void);
/* Is standard output the file with this name? Then it must not be an input. */
bool dh_output_is_standard(const char *path);

/* Locks an open file for this command. False, with errno: another one has it. A command that is killed
 * between fork and exec leaves a child that holds its locks until the exec; so it is tried again for a
 * moment. */
bool dh_output_lock(int fd);

/* From now on, no output may be written over this file, which this command reads ("-": standard input). It
 * is looked at whenever an output is opened. NULL and "" name nothing. */
void dh_output_reads(const char *path);
/* Is an output file of this name one of these inputs? For files written by other code, or much later. */
bool dh_output_is_input(const char *path);
/* Do these names, of which either may be NULL or "", lead to the same file? It need not exist yet. */
bool dh_output_same(const char *a, const char *b);
/* NULL if a program will be able to append to this file, or the reason why not. The file is created if it
 * does not exist. */
const char *dh_output_appendable(const char *path);
/* 0, or -1 with o->why. */
int dh_output_open(struct dh_output *o, struct dh_arena *arena, const char *path);
/* The same for a file that the command reads in order to replace it. */
int dh_output_replace(struct dh_output *o, struct dh_arena *arena, const char *path);
/* Complete: the file gets its final name. 0, or -1 with o->why, and there is no new file. */
int dh_output_commit(struct dh_output *o);
/* Abandons the file. What was written so far is removed, unless `keep` is set. Does nothing if it was not
 * opened. */
void dh_output_abandon(struct dh_output *o, bool keep);

#endif
