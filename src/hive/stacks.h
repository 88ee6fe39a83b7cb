/*
 * stacks.h - the two stacks of a race that a user has seen, and the symbols uploaded with a build.
 *
 * A stack is a list of offsets in the build's file, innermost first; all but the first are return addresses.
 * 0 stands for frames outside that file, about which nothing is reported. Symbols are a JSON document,
 *   {"functions": [[64, 32, "main"], ...], "files": ["/src/a.c", ...], "lines": [[64, 0, 7], ...]}
 * with functions by offset and length, and lines by offset, file index, and number; each line extends to the
 * next one, and line 0 means that nothing is known from there on. Both are sorted by offset. Files and
 * lines are uploaded on request only, as lines of source are.
 */
#ifndef DH_HIVE_STACKS_H
#define DH_HIVE_STACKS_H

#include <jansson.h>

#include "util/arena.h"

enum { DH_HIVE_FRAMES = 64, DH_HIVE_SYMBOLS_MOST = 64 << 20 };

struct dh_hive_stacks {
    u64 seq; /* of the event that reported them */
    u32 build;
    u32 n[2]; /* of the unit's first access, and of its second */
    u32 unused;
    u64 frames[2][DH_HIVE_FRAMES];
};

/* As in a result: [[64, 128], [96]]. False, with *ret unchanged: it is not such a list, or exceeds the
 * limits. */
bool dh_hive_stacks_read(const json_t *list, struct dh_hive_stacks *ret);

struct dh_hive_symbols;

/* 0, or -EBADMSG and a message that lives as long as the program. */
int dh_hive_symbols_read(const void *bytes, size_t len, struct dh_hive_symbols **ret, const char **ret_why);
void dh_hive_symbols_free(struct dh_hive_symbols *s);
/* The document that it was read from. */
const char *dh_hive_symbols_bytes(const struct dh_hive_symbols *s, size_t *ret_len);

struct dh_hive_frame {
    const char *function, *file; /* NULL: not known; they live as long as the symbols */
    u32 line;                    /* 0: not known */
};

/* s may be NULL: nothing is known. is_return: the offset is just after a call, and the call is meant. */
struct dh_hive_frame dh_hive_symbols_find(const struct dh_hive_symbols *s, u64 offset, bool is_return);

#endif
