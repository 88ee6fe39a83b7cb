/*
 * record_stacks.h - for `deadheat record`: writes the contexts and threads that the program has reported to
 * the file.
 */
#ifndef DH_CLI_RECORD_STACKS_H
#define DH_CLI_RECORD_STACKS_H

#include "event/dht_feed.h"
#include "event/dht_write.h"

/* All zero is a valid start. */
struct dh_record_stacks {
    u32 told;                     /* how much the program had reported at the last check */
    u8 contexts[DH_DHT_CONTEXTS]; /* states that were written */
    u32 threads[DH_DHT_LIVES];    /* changes, likewise */
};

/* Writes what is new since the last time. */
void dh_record_stacks(struct dh_record_stacks *s, const struct dh_feed_layout *shared,
                      struct dh_dht_writer *w);

#endif
