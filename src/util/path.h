/*
 * path.h - file paths as text. Nothing here accesses the file system unless stated.
 */
#ifndef DH_UTIL_PATH_H
#define DH_UTIL_PATH_H

#include "util/arena.h"

/* dir/name (or name alone if it is absolute or dir is NULL), without "." and with ".." resolved as text. */
char *dh_path_join(struct dh_arena *a, const char *dir, const char *name);
/* path relative to directory dir, with ".." where needed; path itself if they share only the root or one
 * of them is relative. Both without "." and "..". */
char *dh_path_from(struct dh_arena *a, const char *dir, const char *path);
/* The part of path beneath dir, or path itself. */
const char *dh_path_beneath(const char *dir, const char *path);
const char *dh_path_base(const char *path);
/* Is it where system headers and libraries are, rather than those of a project? False for NULL. */
bool dh_path_is_system(const char *path);
/* Directories that have moved: what was beneath `from` is now beneath `to`. */
struct dh_path_map {
    const char *from, *to; /* to: "" for the current directory */
    const struct dh_path_map *next;
};
/* Where the path is now, by the first matching map; the path itself if none matches, or if it is NULL. */
const char *dh_path_mapped(struct dh_arena *a, const struct dh_path_map *maps, const char *path);
/* Accesses the file system: the path of the running program, or NULL. */
char *dh_path_self(struct dh_arena *a);
/* Accesses the file system: the program a shell would run for this name, or NULL with errno set. */
char *dh_path_find_program(struct dh_arena *a, const char *name);

#endif
