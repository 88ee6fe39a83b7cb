/*
 * dht.h - the binary trace format, version 4 (docs/design/trace-format.md): the contents of a file and the
 * chunk headers.
 *
 * A file is a header followed by self-contained chunks: compressed by zstd, with a checksum over head and
 * compressed bytes. All numbers are little-endian. A chunk of events holds a run of one thread's events;
 * threads are ordered by the ticket that every synchronisation event carries: tickets are 0, 1, 2, ... over
 * the whole trace. If a file ends in the middle of a chunk, or without a chunk of type END, its recorder was
 * killed; it is valid up to the first missing ticket. So that little is lost, the recorder periodically
 * writes what idle threads have done so far.
 */
#ifndef DH_EVENT_DHT_H
#define DH_EVENT_DHT_H

#include "event/event.h"

#define DH_DHT_MAGIC "DHTRACE\n"
#define DH_DHT_VERSION 4u
/* Older files are read too. Version 2 has no contexts, no STACKS, no BLOCK and no short heads; version 1 also
 * has no marks, no copies and no carried threads. */
#define DH_DHT_OLDEST 1u
/* Version 3 encoded contexts differently, and had longer heads. No release wrote it, so it is rejected. */
#define DH_DHT_DRAFT 3u
#define DH_DHT_WITH_CALLS 4u
#define DH_DHT_CHUNK_MAGIC 0x6b4e4843u /* "CHNk" */

enum {
    DH_DHT_CHUNK_BYTES = 64 << 10,   /* of one chunk, unpacked, if it holds events */
    DH_DHT_CHUNK_EVENTS = 1 << 18,   /* at most */
    DH_DHT_TABLE_BYTES = 16 << 20,   /* of one chunk that holds a table */
    DH_DHT_TABLES_BYTES = 256 << 20, /* of all modules and symbols; compressed, they could be tiny */
    DH_DHT_SITES = 2048,             /* of one chunk */
    DH_DHT_THREADS = 1 << 24,        /* numbers of threads are below */
    DH_DHT_CONTEXTS = 1 << 22,       /* and those of contexts; 0: unknown */
    DH_DHT_LIVES = 1 << 21,          /* and those of threads described in STACKS */
    DH_DHT_FRAMES = 16,              /* activations recorded at a time */
    DH_DHT_ORDERED_EVENTS = 1 << 14, /* of one chunk of all threads, at most */
    DH_DHT_ORDERED_BYTES = 16 + DH_DHT_ORDERED_EVENTS * 14,
};

/* Flags of a file. */
enum {
    DH_DHT_NAMED = 1, /* made from text: its events are in chunks of type ORDERED only */
};

/* 32 bytes at the beginning. */
struct dh_dht_header {
    char magic[8];
    u32 version;
    u32 flags;
    u64 pid;
    u64 check; /* xxhash (XXH64, seed 0) of all before it */
};

enum dh_dht_chunk_type {
    DH_DHT_EVENTS = 1,  /* of one thread: event/dht_code.h */
    DH_DHT_MODULES = 2, /* loaded files: struct dh_dht_module */
    DH_DHT_SYMBOLS = 3, /* lines `address TAB function TAB file:line`, for the sites of the trace */
    DH_DHT_NAMES = 4,   /* lines `t|l|v NUMBER NAME`, of a file with DH_DHT_NAMED; threads of any file */
    DH_DHT_END = 5,     /* the last chunk: nothing is missing; `events` counts those of the file */
    /* incomplete EVENTS: a later chunk of the same thread and number replaces it */
    DH_DHT_SO_FAR = 6,
    DH_DHT_ORDERED = 7, /* of all threads, of a file with DH_DHT_NAMED: event/dht_columns.h */
    /* EVENTS that only access whole eight-byte words and move nothing: they cut no variable */
    DH_DHT_WORDS = 8,
    DH_DHT_STACKS = 9, /* contexts and threads, for readers that want stacks: event/dht_stacks.h */
};

/* The head of a chunk: 48 bytes up to version 2, fewer since (event/dht_head.h). Then packed_len bytes, then
 * those of the contexts if it has any. */
struct dh_dht_chunk {
    u32 magic;
    u32 type;
    u32 thread;     /* of EVENTS */
    u32 number;     /* of EVENTS: 0, 1, ... of this thread; of ORDERED: of the file */
    u32 raw_len;    /* unpacked */
    u32 packed_len; /* equal to raw_len: not packed */
    u64 first;      /* of EVENTS: the first ticket in it; DH_DHT_NO_TICKET: none */
    u64 events;     /* of EVENTS, SO_FAR and WORDS: those, and << 32 the bytes of their contexts */
    u64 check;      /* xxhash of all before it and of all bytes that follow */
};

_Static_assert(sizeof(struct dh_dht_header) == 32 && sizeof(struct dh_dht_chunk) == 48, "sizes in the file");

/* Contexts (event/dht_calls.h) follow the packed events of a chunk: v(length), then as many bytes, or fewer:
 * packed. */
DH_INLINE bool dh_dht_has_calls(u32 type)
{
    return type == DH_DHT_EVENTS || type == DH_DHT_SO_FAR || type == DH_DHT_WORDS;
}
enum { DH_DHT_CALLS_SHIFT = 32 };
DH_INLINE u32 dh_dht_calls_len(const struct dh_dht_chunk *head)
{
    return dh_dht_has_calls(head->type) ? (u32)(head->events >> DH_DHT_CALLS_SHIFT) : 0;
}

#define DH_DHT_NO_TICKET UINT64_MAX
/* The thread number of events that belong to no thread: memory that changes owners outside all threads. */
#define DH_DHT_NOBODY UINT32_MAX

/* One loaded file, in a MODULES chunk; the path follows, without a final 0. */
struct dh_dht_module {
    u64 lo, hi, bias;
    u8 build_id[20];
    u8 build_id_len;
    u8 pad[3];
    u32 path_len;
    u32 tls_below; /* its thread-local segment begins this far below every thread pointer; 0: it has none */
    u32 tls_size;
    u32 pad2;
};
enum {
    DH_DHT_OLD_MODULE = 56
}; /* bytes of one up to version 2, which ended where tls_below is, and 4 more */

_Static_assert(sizeof(struct dh_dht_module) == 64 &&
                   offsetof(struct dh_dht_module, tls_size) == DH_DHT_OLD_MODULE,
               "sizes in the file");

/* What is known about a thread besides its events. */
struct dh_dht_thread {
    u32 uid;        /* from 0 */
    u32 parent;     /* uid + 1 of its creator; 0: unknown */
    u32 created_at; /* context */
    u32 tid;
    u64 stack_lo, stack_hi;
    u64 tls_lo, tls_hi, tp; /* thread-local memory, and the thread pointer in it */
    char name[16];          /* with a final 0 */
};

#endif
