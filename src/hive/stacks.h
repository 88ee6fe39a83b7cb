/*
 * stacks.h - the two stacks of a race that a user has seen, and what a build has uploaded to name them.
 *
 * A stack is a list of offsets in the file of the build, return addresses but for the first, innermost first.
 * 0 stands for frames outside of that file, of which nothing is told. What names them is a JSON document,
 *   {"functions": [[64, 32, "main"], ...], "files": ["/src/a.c", ...], "lines": [[64, 0, 7], ...]}
 * with functions by offset and length, and lines by offset, index of the file, and number; each line goes up
 * to the next one, and line 0 says that nothing is known from there on. Both are sorted by offset. Files and
 * lines are uploaded on request only, as lines of source are.
 */
#ifndef DH_HIVE_STACKS_H
#define DH_HIVE_STACKS_H

#include <jansson.h>

#include "util/arena.h"

enum { DH_HIVE_FRAMES = 64, DH_HIVE_SYMBOLS_MOST = 64 << 20 };

struct dh_hive_stacks {
    u64 seq; /* of the event that told them */
    u32 build;
    u32 n[2]; /* of the unit's first access, and of its second */
    u32 unused;
    u64 frames[2][DH_HIVE_FRAMES];
};

/* As a result has them: [[64, 128], [96]]. False, and untouched: it is no such list, or beyond the limits. */
bool dh_hive_stacks_read(const json_t *list, struct dh_hive_stacks *ret);

struct dh_hive_symbols;

/* 0, or -EBADMSG and a sentence that lives as long as the program. */
int dh_hive_symbols_read(const void *bytes, size_t len, struct dh_hive_symbols **ret, const char **ret_why);
void dh_hive_symbols_free(struct dh_hive_symbols *s);
/* The document that it was made of. */
const char *dh_hive_symbols_bytes(const struct dh_hive_symbols *s, size_t *ret_len);

struct dh_hive_frame {
    const char *function, *file; /* NULL: not known; they live as long as the symbols */
    u32 line;                    /* 0: not known */
};

/* s may be NULL: nothing is known. is_return: the offset is behind a call, which is what is meant. */
struct dh_hive_frame dh_hive_symbols_find(const struct dh_hive_symbols *s, u64 offset, bool is_return);

#endif
