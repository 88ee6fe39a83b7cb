/*
 * dht_reader.h - the internals of the .dht reader, shared by dht_read.c (the file and its tables), dht_cut.c
 * (the variables of a recording), dht_merge.c (its events in order), dht_rest.c (those that concern many
 * variables) and dht_named.c (the events of a text). All other code includes dht_read.h.
 */
#ifndef DH_EVENT_DHT_READER_H
#define DH_EVENT_DHT_READER_H

#include "event/dht_cells.h"
#include "event/dht_code.h"
#include "event/dht_columns.h"
#include "event/dht_read.h"
#include "event/dht_stacks.h"
#include "event/names.h"
#include "event/objects.h"

/* Where a chunk of events is. */
struct dh_dht_ref {
    u64 offset; /* of its head */
    u64 first;
    u64 events;
    u32 raw_len, packed_len, number;
    u32 calls_len;
    u32 head_len;
    bool so_far; /* not all of it */
    bool words;  /* it cuts no variable */
};

struct dh_dht_stream_calls {
    struct dh_dht_calls in;
    u8 raw[DH_DHT_CHUNK_BYTES];
};

/* One thread's events. */
struct dh_dht_stream {
    u32 uid;
    u32 thread;              /* dense number; UINT32_MAX: not given out yet */
    struct dh_dht_ref *refs; /* by number */
    u32 n, cap;
    u32 next; /* chunk to load */
    u8 *raw;  /* NULL: none is loaded */
    struct dh_dht_decoder *decoder;
    struct dh_dht_stream_calls *calls; /* contexts of its events, if they are needed; else NULL */
    struct dh_dht_event event;         /* decoded and not delivered yet, if `waiting` */
    bool waiting;
    bool known; /* to the form of the trace */
    u64 key;    /* in the heap: its next ticket */
};

/* What remains to be delivered of an event that covers many variables. */
struct dh_dht_rest {
    u8 op; /* DH_OP_SKIP: nothing */
    u8 mode;
    u16 size;
    u32 thread, site;
    u64 at, end, from;
    u64 lo,
        hi;   /* of memory larger than all that was seen: its pages are looked for instead; hi 0: it is not */
    u32 page; /* the next to look at */
    bool skip; /* pages that were never seen */
    bool down; /* of a move: from the end, since it overlaps itself */
    u32 step;  /* of a move: 8 or 1 */
};

/* Of a NAMED file: the chunk being read. */
struct dh_dht_named {
    struct dh_columns_in in;
    u8 *raw;
    u64 offset;
    u32 thread; /* of the last event */
};

/* Data that moves in larger pieces than this loses its history: limits for whole words, and for bytes that
 * change their position within words, which need a variable each. */
enum { DH_DHT_MOVE_MAX = 1 << 30, DH_DHT_MOVE_BYTES = 1 << 24 };
DH_INLINE bool dh_dht_moves_bytes(u64 to, u64 from, u64 n)
{
    return ((to | from | n) & 7) != 0 && n <= DH_DHT_MOVE_BYTES;
}
DH_INLINE bool dh_dht_moves_words(u64 to, u64 from, u64 n)
{
    return ((to ^ from) & 7) == 0 && n <= DH_DHT_MOVE_MAX;
}

struct dh_dht {
    int fd;
    u32 version, flags;
    bool tables_only;
    bool complete; /* has its END */
    char error[DH_DHT_ERROR];
    u64 pid;
    u64 size;
    u64 counted; /* events, by END */
    u64 counted_here;
    u64 cut;
    u64 chunks, stored, packed, raw;
    u64 pass_bytes; /* read so far, */
    u64 pass_total; /* of so many in all passes */
    void *zstd;
    u8 *buf; /* packed bytes of the chunk being loaded */
    size_t buf_cap;

    u32 *by_uid; /* stream + 1 of an uid */
    u32 *dense;  /* by uid: dense number + 1 */
    u32 by_uid_cap, dense_cap;
    struct dh_dht_stream **streams;
    u32 n_streams, cap_streams;
    struct dh_dht_stream *nobody;

    struct {
        u32 uid;
        bool ended;
    } *threads; /* by dense number */
    u32 n_threads, cap_threads;

    struct dh_cells cells;
    struct dh_objects objects;
    struct dh_pages sites; /* keys are program counters */
    struct dh_form form;
    struct dh_dht_named named;

    u8 *modules; /* all MODULES chunks, one behind the other */
    u64 modules_len, modules_cap;
    u64 tables; /* bytes of modules and symbols, as unpacked */
    char *symbols;
    u64 symbols_len, symbols_cap;
    struct dh_pages symbol_keys;
    u64 *symbol_at; /* by number of the key */
    u32 symbol_cap;
    struct dh_names names[3]; /* threads, locks, variables */

    /* dht_stacks.c */
    struct {
        struct dh_dht_ref *refs; /* the chunks */
        u32 n, refs_cap;
        bool loaded;                     /* what they hold: */
        struct dh_dht_context *contexts; /* by number */
        u32 cap;
        struct dh_pages uids; /* of the threads */
        struct dh_dht_thread *threads;
        u32 threads_cap;
    } stacks;

    struct { /* moves between addresses, for the cuts */
        u64 to, from, n;
    } *moves;
    u32 n_moves, cap_moves;

    /* dht_merge.c */
    struct dh_dht_stream **heap;
    u32 n_heap;
    struct dh_dht_stream *current;
    u64 ticket; /* the next */
    u64 number; /* of the next event given out */
    struct dh_dht_rest rest;
    bool ended;

    struct dh_dht_watch *watch; /* dht_look.c; NULL: nobody looks */

    /* dht_view.c */
    struct dh_dht_view view;
    bool
        lenient; /* threads are carried: a lock of the kernel's may be taken as one and released as another */
    struct dh_dht_language {
        u64 first; /* event */
        u32 n;
    } *language; /* of each access that the run-time system told */
    u32 n_language, cap_language;
};

/* -EBADMSG, with the sentence and the offset kept. */
int dh_dht_bad(struct dh_dht *r, u64 offset, const char *what);
/* The next chunk of a stream into its buffer. 1; 0: there is none; negative: an error. */
int dh_dht_load(struct dh_dht *r, struct dh_dht_stream *s);
void dh_dht_unload(struct dh_dht_stream *s);
/* Where in the file a stream's decoder stands, as nearly as packed bytes let one say: the head of its chunk.
 */
u64 dh_dht_offset(const struct dh_dht_stream *s);
/* Room for one more element of an array from the pool. False: no memory. */
bool dh_dht_grow(void **items, u32 n, u32 *cap, size_t size);
/* The bytes of a chunk, checked and unpacked into `raw`, which has room for them. */
int dh_dht_unpack_ref(struct dh_dht *r, const struct dh_dht_ref *ref, u8 *raw);
void dh_dht_stacks_done(struct dh_dht *r);
/* One module after the other, from *at = 0 on. False: that was the last. */
bool dh_dht_next_module(const struct dh_dht *r, u64 *at, struct dh_dht_module *ret);
/* Where variables begin and end: the first pass. */
int dh_dht_cut(struct dh_dht *r);
/* The next event of r->rest. 1; 0: none, but there may be more unless r->rest.op is DH_OP_SKIP; or an error.
 */
long dh_dht_rest_next(struct dh_dht *r, struct dh_event *e);
/* The next page of a range that has more pages than were ever seen. */
bool dh_dht_rest_page(struct dh_dht *r);
/* -ENOMEM, with a sentence. */
long dh_dht_no_room(struct dh_dht *r, const struct dh_dht_stream *s);
/* Prepares merging. */
int dh_dht_merge_begin(struct dh_dht *r);
const char *dh_dht_form_text(enum dh_form_error error);
/* As dh_dht_read, of a NAMED file. */
long dh_dht_named_read(struct dh_dht *r, struct dh_event *events, size_t cap);
void dh_dht_named_done(struct dh_dht *r);
/* Does the view leave this event out? Takes its marks off, and does what they ask for. Negative: an error. */
int dh_dht_view_event(struct dh_dht *r, struct dh_dht_stream *s, struct dh_dht_event *e);
/* The lock no longer has a holder. */
void dh_dht_let_go(struct dh_dht *r, u32 lock);
/* The dense number of a thread. UINT32_MAX: no memory. */
u32 dh_dht_thread_of(struct dh_dht *r, u32 uid);

#endif
