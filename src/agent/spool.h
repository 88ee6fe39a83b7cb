/*
 * spool.h - results on their way to the hive: a directory with one file each, named by the result's id, which
 * holds exactly the bytes that will be sent.
 *
 * A file under its final name is complete and on disk. It is removed when the hive has acknowledged it. In
 * between it may be sent more than once, which the hive recognises by the id: so every result counts once,
 * whichever of several processes sends it, and whatever is killed meanwhile.
 */
#ifndef DH_AGENT_SPOOL_H
#define DH_AGENT_SPOOL_H

#include "base/base.h"

enum {
    DH_AGENT_ID = 32,
    DH_AGENT_SPOOL_MOST = 1000,
    DH_AGENT_SPOOL_LARGEST = 256 << 10 /* bytes of a result; the hive takes no more (hive/api.c) */
};

/* 32 random hexadecimal digits. */
void dh_agent_draw(char ret[DH_AGENT_ID + 1]);

/* 0, or a negative errno: then nothing was added. -ENOSPC also if there are DH_AGENT_SPOOL_MOST already,
 * -EFBIG if the text is longer than DH_AGENT_SPOOL_LARGEST. */
int dh_agent_spool_add(const char *dir, const char *id, const char *text);
/* The id of one of them, other than `not` if possible; false: there is none. */
bool dh_agent_spool_pick(const char *dir, const char * not, char ret[DH_AGENT_ID + 1]);
/* Its text, to be freed; NULL: it is gone, or cannot be read. */
char *dh_agent_spool_read(const char *dir, const char *id);
void dh_agent_spool_drop(const char *dir, const char *id);
/* All of them, ordered by id. */
void dh_agent_spool_each(const char *dir, void (*take)(void *ctx, const char *id, const char *text),
                         void *ctx);

#endif
