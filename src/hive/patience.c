/*
 * patience.c - see patience.h.
 *
 * A peer is in the list from before its first byte until before its socket is closed; the HTTP library
 * notifies us of both, so while the lock is held a descriptor in the list is that peer's. Deadlines are
 * written by the thread that serves the connection and read by the one that sweeps: they are atomic.
 */
#include "hive/patience.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "hive/engine.h"

enum { SWEEP_US = 1000000 };

struct dh_hive_peer {
    int fd;
    u64 deadline_us; /* 0: none */
    struct dh_hive_peer *prev, *next;
};

void dh_hive_patience_init(struct dh_hive_patience *p, u64 idle_us)
{
    *p = (struct dh_hive_patience){.idle_us = idle_us};
    pthread_mutex_init(&p->lock, NULL);
}

void dh_hive_patience_done(struct dh_hive_patience *p)
{
    pthread_mutex_destroy(&p->lock);
}

static void set(struct dh_hive_peer *peer, u64 us)
{
    __atomic_store_n(&peer->deadline_us, us ? dh_hive_ticks_us() + us : 0, __ATOMIC_RELAXED);
}

void dh_hive_patience_notify(void *patience, struct MHD_Connection *c, void **at,
                             enum MHD_ConnectionNotificationCode code)
{
    struct dh_hive_patience *p = patience;
    struct dh_hive_peer *peer = *at;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        *at = peer = dh_util_alloc(sizeof(*peer));
        peer->fd = info ? info->connect_fd : -1;
        set(peer, p->idle_us);
        pthread_mutex_lock(&p->lock);
        peer->next = p->peers;
        if (p->peers)
            p->peers->prev = peer;
        p->peers = peer;
        p->connections++;
        pthread_mutex_unlock(&p->lock);
    } else if (peer) {
        pthread_mutex_lock(&p->lock);
        *(peer->prev ? &peer->prev->next : &p->peers) = peer->next;
        if (peer->next)
            peer->next->prev = peer->prev;
        p->connections--;
        pthread_mutex_unlock(&p->lock);
        free(peer);
        *at = NULL;
    }
}

void dh_hive_patience_set(struct MHD_Connection *c, u64 us)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context)
        set(info->socket_context, us);
}

void dh_hive_patience_sweep(struct dh_hive_patience *p, u64 now_us)
{
    pthread_mutex_lock(&p->lock);
    if (now_us - p->swept_us >= SWEEP_US) {
        p->swept_us = now_us;
        for (struct dh_hive_peer *peer = p->peers; peer; peer = peer->next) {
            u64 deadline = __atomic_load_n(&peer->deadline_us, __ATOMIC_RELAXED);
            if (!deadline || deadline > now_us)
                continue;
            shutdown(peer->fd, SHUT_RDWR); /* its thread sees end of file, and closes it */
            __atomic_store_n(&peer->deadline_us, 0, __ATOMIC_RELAXED);
            p->late++;
        }
    }
    pthread_mutex_unlock(&p->lock);
}
