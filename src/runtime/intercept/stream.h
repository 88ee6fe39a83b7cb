/*
 * stream.h - streams that use memory of the program: a buffer given by setvbuf, the memory behind fmemopen,
 * the text of open_memstream. intercept/stream.c knows them and says what each call touches; the interceptors
 * of calls that take a stream put DH_STREAM_CALL in the place of DH_BLOCKING.
 */
#ifndef DH_RUNTIME_INTERCEPT_STREAM_H
#define DH_RUNTIME_INTERCEPT_STREAM_H

#include <stdio.h>

#include "runtime/threads/scope.h"

enum dh_stream_way {
    DH_STREAM_IN,
    DH_STREAM_OUT,
    DH_STREAM_SEEK,
    DH_STREAM_FLUSH,
};

struct dh_stream;

/* One call on a stream, by the thread that makes it. */
struct dh_stream_call {
    struct dh_stream *stream; /* NULL: it is none of these */
    FILE *locked;             /* held until the call is recorded; NULL: not held */
    enum dh_stream_way way;
    long at; /* where in the memory the call begins */
};

/* How many there are. Read without a lock: using a stream is ordered after its creation. */
extern u32 dh_streams;

struct dh_stream *dh_stream_find(FILE *f);
void dh_stream_begin(struct dh_stream_call *c, struct dh_scope *sc, FILE *f, enum dh_stream_way way);
void dh_stream_end(struct dh_stream_call *c, struct dh_thread *t);
/* A thread that is cancelled leaves the call by unwinding. */
void dh_stream_leave(struct dh_stream_call *c);

/* After fflush(NULL). */
void dh_stream_all_flushed(struct dh_thread *t);
/* Before a stream is closed, and after; NULL: it is none of these. */
struct dh_stream *dh_stream_closes(struct dh_scope *sc, FILE *f);
void dh_stream_closed(struct dh_thread *t, struct dh_stream *s);

DH_INLINE bool dh_stream_known(FILE *f)
{
    return DH_UNLIKELY(__atomic_load_n(&dh_streams, __ATOMIC_RELAXED) != 0) && dh_stream_find(f) != NULL;
}

/* DH_BLOCKING(call), and what it does with the memory of f. f NULL: none. */
#define DH_STREAM_CALL(f, way, call)                                                             \
    ({                                                                                           \
        struct dh_stream_call use_ __attribute__((cleanup(dh_stream_leave))) = {.stream = NULL}; \
        if (DH_UNLIKELY(__atomic_load_n(&dh_streams, __ATOMIC_RELAXED) != 0))                    \
            dh_stream_begin(&use_, &sc, (f), (way));                                             \
        __typeof__(call) value_ = DH_BLOCKING(call);                                             \
        if (DH_UNLIKELY(use_.stream != NULL))                                                    \
            dh_stream_end(&use_, sc.t);                                                          \
        value_;                                                                                  \
    })

#endif
