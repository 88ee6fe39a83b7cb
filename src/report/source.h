/*
 * source.h - lines of source files, for showing them in reports.
 */
#ifndef DH_REPORT_SOURCE_H
#define DH_REPORT_SOURCE_H

#include "util/map.h"

struct dh_source {
    struct dh_arena *arena;
    struct dh_map files; /* path -> struct dh_source_file, also for those that cannot be read */
    struct dh_map given; /* "path\nnumber" -> struct dh_source_line; path -> present */
};

struct dh_source_line {
    const char *text; /* without its newline; not zero-terminated */
    size_t len;
};

void dh_source_init(struct dh_source *s, struct dh_arena *arena);
void dh_source_done(struct dh_source *s);
/* Lines that came with a finding. For such a file only these are used, whatever is on this machine. */
void dh_source_add(struct dh_source *s, const char *path, int first, const char *text);
/* Line `number`, from 1. False if there is no such line or the file cannot be read. */
bool dh_source_line(struct dh_source *s, const char *path, int number, struct dh_source_line *ret);

#endif
