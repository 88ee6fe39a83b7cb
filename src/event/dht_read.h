/*
 * dht_read.h - reads a .dht file as one linear trace. Hosted: uses zstd and xxhash.
 *
 * The threads' events are merged by their tickets: after an event with ticket k come all events of the same
 * thread that have none, then ticket k + 1. The program's synchronisation allows any such order; racing
 * accesses may appear in a different order than they were made, which no happens-before detector can notice.
 *
 * A variable is a piece of memory no part of which was ever accessed without the rest: 8-byte words are cut
 * where an access begins or ends. A first pass over the file finds the cuts, a second one delivers the
 * events. So every access is one event per variable it covers, exact to the byte, and usually one.
 *
 * Memory: one unpacked chunk for each thread that lives at the same time, the variables and the locks, and 40
 * bytes a chunk. Nothing in the file is trusted; errors are reported with the offset where they were found.
 */
#ifndef DH_EVENT_DHT_READ_H
#define DH_EVENT_DHT_READ_H

#include "event/dht.h"
#include "event/form.h"

struct dh_dht;

enum { DH_DHT_ERROR = 256 };

struct dh_dht_stats {
    u64 pid;   /* of the program that was recorded */
    u64 size;  /* of the file */
    u64 bytes; /* read of it, over all passes */
    u64 chunks;
    u64 stored; /* events as they are in the file, where a range is one */
    u64 packed; /* bytes of the chunks of events, with their heads */
    u64 raw;    /* unpacked */
    u32 threads, locks, variables;
    bool complete; /* the recorder finished normally */
    u64 cut;       /* ticket that is missing, if not complete; DH_DHT_NO_TICKET: none */
};

/* The place of a site. */
struct dh_dht_place {
    u64 pc;           /* a return address: one past the instruction; of a NAMED file: a number */
    const char *path; /* NULL: in no known module; no final 0 */
    u32 path_len;
    const u8 *build_id;
    u32 build_id_len;
    u64 offset;         /* in the module, as the ELF file counts */
    const char *symbol; /* "function TAB file:line", with a final 0; NULL: unknown */
};

/* fd must be seekable and stays the caller's. 0, -ENOMEM, -EBADMSG (dh_dht_error), or what read(2) said. *ret
 * is set in every case but -ENOMEM. */
int dh_dht_open(struct dh_dht **ret, int fd);
/* The same, without its events: for dh_dht_place_of. */
int dh_dht_open_tables(struct dh_dht **ret, int fd);
void dh_dht_close(struct dh_dht *r);
/* Limit the number of variables: for untrusted files. */
void dh_dht_limit(struct dh_dht *r, u32 variables);
/* The most events that one atomic operation can produce. */
enum { DH_DHT_ATOMIC_EVENTS = 66 + 2 };
/* Up to cap events, cap at least DH_DHT_ATOMIC_EVENTS. How many; 0: the end. Negative as above. */
long dh_dht_read(struct dh_dht *r, struct dh_event *events, size_t cap);
const char *dh_dht_error(const struct dh_dht *r); /* a sentence, with its offset */

/*
 * For a program that uses <deadheat/lard.h>: which of its language runtime's actions and statements count.
 * All false, the default: what the language runtime does itself is left out (if it was recorded at all), and
 * what it states is believed. The other settings show what would be reported without one of the rules of
 * lard.h.
 */
struct dh_dht_view {
    bool system_accesses; /* its accesses count */
    bool system_order;    /* its synchronisation counts */
    bool no_clear;        /* dh_lard_clear is not believed */
    bool no_copy;         /* nor dh_lard_copy and dh_lard_move */
    bool no_identity;     /* threads are those of the kernel */
};
/* Before the first event. */
void dh_dht_set_view(struct dh_dht *r, const struct dh_dht_view *view);
/* Is this event part of an access that the language runtime reported, and if so, which one, counted from
 * 0? */
bool dh_dht_language_access(const struct dh_dht *r, u64 event, u64 *ret_index);

void dh_dht_stats(const struct dh_dht *r, struct dh_dht_stats *ret);
const struct dh_form *dh_dht_form(const struct dh_dht *r);
/* Names, into buf (at least 64 bytes); those of a NAMED file are the names it was made from. */
const char *dh_dht_thread_name(const struct dh_dht *r, u32 thread, char *buf, size_t cap);
const char *dh_dht_lock_name(const struct dh_dht *r, u32 lock, char *buf, size_t cap);
/* The address of a lock that is in memory; 0: it has only a name. */
u64 dh_dht_lock(const struct dh_dht *r, u32 lock);
const char *dh_dht_variable_name(const struct dh_dht *r, u32 cell, char *buf, size_t cap);
/* The variable's address and size. */
void dh_dht_variable(const struct dh_dht *r, u32 cell, u64 *ret_addr, u32 *ret_size);
bool dh_dht_place(const struct dh_dht *r, u32 site, struct dh_dht_place *ret);
/* The program itself, as a module; false: no module is known. */
bool dh_dht_program(const struct dh_dht *r, struct dh_dht_place *ret);
/* The module that holds an address, of code or of data; ret->symbol is not filled in. False: none is known.
 */
bool dh_dht_place_of(const struct dh_dht *r, u64 addr, struct dh_dht_place *ret);
bool dh_dht_is(const void *begin, size_t n); /* does a file begin like this? 8 bytes are enough */

#endif
