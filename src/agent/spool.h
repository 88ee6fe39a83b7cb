/*
 * spool.h - results on their way to the hive: a directory with one file each, named by the result's id, which
 * holds the very bytes that will be sent.
 *
 * A file that has its name is complete and on the disk. It is removed when the hive has acknowledged it.
 * Between the two it may be sent more than once, which the hive knows by the id: so every result counts once,
 * whoever of several processes sends it, and whatever is killed meanwhile.
 */
#ifndef DH_AGENT_SPOOL_H
#define DH_AGENT_SPOOL_H

#include "base/base.h"

enum { DH_AGENT_ID = 32, DH_AGENT_SPOOL_MOST = 1000 };

/* 32 random hexadecimal digits. */
void dh_agent_draw(char ret[DH_AGENT_ID + 1]);

/* 0 or a negative errno: then nothing is there. -ENOSPC also if there are DH_AGENT_SPOOL_MOST already. */
int dh_agent_spool_add(const char *dir, const char *id, const char *text);
/* The id of one of them, other than `not` if there is another; false: there is none. */
bool dh_agent_spool_pick(const char *dir, const char * not, char ret[DH_AGENT_ID + 1]);
/* Its text, to be freed; NULL: it is gone, or cannot be read. */
char *dh_agent_spool_read(const char *dir, const char *id);
void dh_agent_spool_drop(const char *dir, const char *id);
/* All of them, in the order of their ids. */
void dh_agent_spool_each(const char *dir, void (*take)(void *ctx, const char *id, const char *text),
                         void *ctx);

#endif
