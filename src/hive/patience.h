/*
 * patience.h - how long a connection may take for what it does.
 *
 * A connection on which nothing comes is closed by the HTTP library. One that sends a byte now and then is
 * never idle, and would keep its place for ever: so each has a time by which what it does must be complete.
 * Those that are late are shut down, and their places go to others.
 */
#ifndef DH_HIVE_PATIENCE_H
#define DH_HIVE_PATIENCE_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/base.h"

struct dh_hive_peer;

struct dh_hive_patience {
    pthread_mutex_t lock; /* of all below */
    struct dh_hive_peer *peers;
    u64 swept_us;
    u64 connections, late; /* now; ever shut down */
    u64 idle_us;           /* for a connection that has just been made; set by the owner */
};

void dh_hive_patience_init(struct dh_hive_patience *p, u64 idle_us);
void dh_hive_patience_done(struct dh_hive_patience *p);
/* For MHD_OPTION_NOTIFY_CONNECTION. */
void dh_hive_patience_notify(void *patience, struct MHD_Connection *c, void **peer,
                             enum MHD_ConnectionNotificationCode code);
/* What the connection does now may take this long; 0: as long as it likes. */
void dh_hive_patience_set(struct MHD_Connection *c, u64 us);
/* Shuts down who is late. Looks once a second, however often it is called. */
void dh_hive_patience_sweep(struct dh_hive_patience *p, u64 now_us);

#endif
