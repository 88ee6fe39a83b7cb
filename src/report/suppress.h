/*
 * suppress.h - suppressions in ThreadSanitizer's syntax.
 *
 * A file has one `type:pattern` per line; `#` begins a comment line. A pattern matches anywhere in a name,
 * unless `^` anchors it to the beginning or `$` to the end; `*` matches any text. For a fingerprint, the
 * pattern is the whole fingerprint. docs/guide/suppressions.md lists the types.
 */
#ifndef DH_REPORT_SUPPRESS_H
#define DH_REPORT_SUPPRESS_H

#include "util/arena.h"

enum dh_suppress_type {
    DH_SUPPRESS_RACE,
    DH_SUPPRESS_RACE_TOP,
    DH_SUPPRESS_CALLED_FROM_LIB,
    DH_SUPPRESS_FINGERPRINT, /* deadheat's own */
    DH_SUPPRESS_THREAD,
    DH_SUPPRESS_MUTEX,
    DH_SUPPRESS_SIGNAL,
    DH_SUPPRESS_DEADLOCK,
    DH_SUPPRESS_TYPES
};

struct dh_suppress_rule {
    enum dh_suppress_type type;
    const char *pattern;
    u64 line; /* in its file */
    u64 hits;
    struct dh_suppress_rule *next;
};

struct dh_suppress {
    struct dh_arena *arena;
    struct dh_suppress_rule *rules; /* in the order of the file */
    struct dh_suppress_rule **end;
};

/* Called for each invalid line; the others are still used. */
typedef void dh_suppress_complain(void *ctx, u64 line, const char *sentence);

void dh_suppress_init(struct dh_suppress *s, struct dh_arena *arena);
/* Any bytes are safe to pass. Returns how many lines were bad. */
u64 dh_suppress_parse(struct dh_suppress *s, const char *text, size_t len, dh_suppress_complain *complain,
                      void *ctx);
/* 0 or a negative errno, -EFBIG for a file of many megabytes; *ret_bad is the number of bad lines. */
int dh_suppress_load(struct dh_suppress *s, const char *path, dh_suppress_complain *complain, void *ctx,
                     u64 *ret_bad);

/* The first rule of this type whose pattern matches the text (NULL and "" match nothing), or NULL. */
struct dh_suppress_rule *dh_suppress_find(const struct dh_suppress *s, enum dh_suppress_type type,
                                          const char *text);
bool dh_suppress_match(const char *pattern, const char *text);

#endif
