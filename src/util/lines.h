/*
 * lines.h - reading a file descriptor line by line, as the lines arrive, or a file whole. Both have limits:
 * the named file may be a device that never ends.
 */
#ifndef DH_UTIL_LINES_H
#define DH_UTIL_LINES_H

#include "base/base.h"

#define DH_LINES_MAX (16u << 20) /* a longer line is skipped and reported as such ... */
#define DH_LINES_SKIP (1u << 30) /* ... unless it is longer than this, which is an error: EFBIG */

struct dh_lines {
    int fd; /* not owned */
    char *buffer;
    size_t cap;
    size_t begin, end; /* what has been read and not yet returned */
    u64 number;        /* of the line last returned, from 1 */
    bool eof;
};

enum dh_lines_result {
    DH_LINES_OK,
    DH_LINES_END,
    DH_LINES_TOO_LONG, /* the line was skipped; number is its number */
    DH_LINES_CUT,      /* the last line, without its newline: *ret_text holds what there is */
    DH_LINES_ERROR,    /* errno says why; EAGAIN: no line yet on a non-blocking descriptor */
};

void dh_lines_init(struct dh_lines *l, int fd);
void dh_lines_done(struct dh_lines *l);
/* The text is not zero-terminated, may hold zeros and lives until the next call. */
enum dh_lines_result dh_lines_next(struct dh_lines *l, const char **ret_text, size_t *ret_len);

/* A whole file, on the heap and zero-terminated. 0, or a negative errno; -EFBIG: it has more than `limit`
 * bytes. */
int dh_lines_load(const char *path, size_t limit, char **ret_text, size_t *ret_len);
/* The same for one or more objects in JSON. -EILSEQ: after white space there is something else than the
 * beginning of an object; no more has been read than it takes to see that. */
int dh_lines_load_objects(const char *path, size_t limit, char **ret_text, size_t *ret_len);

#endif
