/*
 * source.h - source lines of a build, to be shown with its races.
 *
 * They are uploaded on request only, and only those around the sites of the build's table. An upload is a
 * JSON document,
 *   {"source": [{"dir": "/src", "file": "a.c", "from": 7, "lines": ["...", ...]}, ...]}
 * with `dir` and `file` as in a site of the table, and no line further than DH_HIVE_SOURCE_AROUND from
 * one. Anything else is refused as a whole, so that a hive never holds more of a program than it can show.
 */
#ifndef DH_HIVE_SOURCE_H
#define DH_HIVE_SOURCE_H

#include "report/pairs.h"

enum {
    DH_HIVE_SOURCE_AROUND = 4,
    DH_HIVE_SOURCE_WIDTH = 400, /* bytes of a line; the uploader cuts longer ones */
    DH_HIVE_SOURCE_MOST = 16 << 20,
};

struct dh_hive_source_line {
    const char *dir, *file; /* of the table, interned */
    u32 number;
    const char *text;
};

struct dh_hive_source {
    struct dh_arena arena;
    struct dh_hive_source_line *lines; /* by dir, file and number; each once */
    size_t n;
};

/* 0, or -EBADMSG and a message that lives as long as the program. The table must outlive *ret. Unless strict,
 * a line that is not wanted is skipped: another version may have wanted it when it was stored. */
int dh_hive_source_read(const void *bytes, size_t len, const struct dh_pairs *table, u32 set, bool strict,
                        struct dh_hive_source **ret, const char **ret_why);
void dh_hive_source_free(struct dh_hive_source *s);
/* NULL equals nothing, not even NULL. */
bool dh_hive_source_equal(const struct dh_hive_source *a, const struct dh_hive_source *b);
/* The line, or NULL: there is none. s may be NULL. */
const char *dh_hive_source_find(const struct dh_hive_source *s, const struct dh_pairs_place *at, u32 number);

/* The reverse: the lines wanted around the places of a table's pairs in this set (DH_PAIRS_RELAY or
 * DH_PAIRS_SOUND), each once and in order, as an array from malloc in which all texts are NULL. */
struct dh_hive_source_line *dh_hive_source_wanted(const struct dh_pairs *table, u32 set, size_t *ret_n);
/* The document of these lines, in order, from malloc. Those without a text are left out. */
char *dh_hive_source_document(const struct dh_hive_source_line *lines, size_t n);

#endif
