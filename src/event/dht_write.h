/*
 * dht_write.h - writes a .dht file chunk by chunk. Hosted: uses zstd and xxhash, and is never part of a
 * recorded program.
 */
#ifndef DH_EVENT_DHT_WRITE_H
#define DH_EVENT_DHT_WRITE_H

#include "event/dht.h"

struct dh_dht_writer {
    int fd;    /* not ours to close */
    int error; /* the first negative errno; nothing is written after it */
    u64 bytes; /* written */
    u64 events;
    /* private */
    void *zstd;
    void *packed;
    size_t packed_cap;
};

/* Writes the header. 0 or a negative errno. */
int dh_dht_write_begin(struct dh_dht_writer *w, int fd, u32 flags, u64 pid);
/* One chunk; `head` has type, thread, number, first and events, the rest is filled in. 0 or a negative errno.
 */
int dh_dht_write_chunk(struct dh_dht_writer *w, struct dh_dht_chunk *head, const void *raw, size_t len);
/* The same of events, with their contexts (dht_calls.h). */
int dh_dht_write_events(struct dh_dht_writer *w, struct dh_dht_chunk *head, const void *raw, size_t len,
                        const void *calls, size_t calls_len);
/* The chunk that says that nothing is missing. */
int dh_dht_write_end(struct dh_dht_writer *w);
void dh_dht_write_done(struct dh_dht_writer *w);

#endif
