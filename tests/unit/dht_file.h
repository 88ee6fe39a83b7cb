/*
 * dht_file.h - recordings made by a test, event by event.
 */
#ifndef DH_TESTS_UNIT_DHT_FILE_H
#define DH_TESTS_UNIT_DHT_FILE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "event/dht_code.h"
#include "event/dht_read.h"
#include "event/dht_write.h"

enum { FILE_THREADS = 3 };

struct file {
    int fd;
    struct dh_dht_writer w;
    struct dh_dht_encoder code[FILE_THREADS];
    u8 buf[FILE_THREADS][DH_DHT_CHUNK_BYTES];
    u32 numbers[FILE_THREADS];
    u64 ticket;
};

static inline struct file *file_new(u32 flags)
{
    struct file *f = calloc(1, sizeof(*f));
    f->fd = memfd_create("trace", 0);
    assert_true(f->fd >= 0);
    assert_int_equal(dh_dht_write_begin(&f->w, f->fd, flags, 1), 0);
    for (u32 t = 0; t < FILE_THREADS; t++)
        dh_dht_encode_begin(&f->code[t], f->buf[t], DH_DHT_CHUNK_BYTES);
    return f;
}

static inline void file_free(struct file *f)
{
    dh_dht_write_done(&f->w);
    close(f->fd);
    free(f);
}

/* The event gets the next ticket if it is one that has one. */
static inline void file_put(struct file *f, u32 thread, struct dh_dht_event e)
{
    u32 operands = dh_dht_operands(e.op);
    if (operands & DH_DHT_HAS_TICKET)
        e.ticket = f->ticket++;
    dh_dht_encode_slow(&f->code[thread], &e, operands);
}

/* What the thread has done so far, as a chunk of this type; after all but SO_FAR the next one begins. */
static inline void file_chunk(struct file *f, u32 thread, u32 type)
{
    struct dh_dht_encoder *c = &f->code[thread];
    dh_dht_encode_flush(c);
    struct dh_dht_chunk head = {
        .type = type, .thread = thread, .number = f->numbers[thread], .first = c->first, .events = c->events};
    assert_int_equal(dh_dht_write_events(&f->w, &head, f->buf[thread], (size_t)(c->at - f->buf[thread]),
                                         c->end, (size_t)(c->top - c->end)),
                     0);
    if (type != DH_DHT_SO_FAR) {
        f->numbers[thread]++;
        dh_dht_encode_begin(c, f->buf[thread], DH_DHT_CHUNK_BYTES);
    }
}

#endif
