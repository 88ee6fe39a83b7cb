/*
 * patience.h - time limits for what a connection does.
 *
 * The HTTP library closes a connection on which nothing arrives. One that sends a byte now and then is never
 * idle, and would hold its place for ever: so each has a deadline for its current activity. Those that miss
 * it are shut down, and their places go to others.
 */
#ifndef DH_HIVE_PATIENCE_H
#define DH_HIVE_PATIENCE_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/base.h"

struct dh_hive_peer;

struct dh_hive_patience {
    pthread_mutex_t lock; /* protects everything below */
    struct dh_hive_peer *peers;
    u64 swept_us;
    u64 connections, late; /* now; shut down so far */
    u64 idle_us;           /* for a connection that was just accepted; set by the owner */
};

void dh_hive_patience_init(struct dh_hive_patience *p, u64 idle_us);
void dh_hive_patience_done(struct dh_hive_patience *p);
/* For MHD_OPTION_NOTIFY_CONNECTION. */
void dh_hive_patience_notify(void *patience, struct MHD_Connection *c, void **peer,
                             enum MHD_ConnectionNotificationCode code);
/* The connection's current activity may take this long; 0: no limit. */
void dh_hive_patience_set(struct MHD_Connection *c, u64 us);
/* Shuts down connections past their deadline. Checks once a second, however often it is called. */
void dh_hive_patience_sweep(struct dh_hive_patience *p, u64 now_us);

#endif
