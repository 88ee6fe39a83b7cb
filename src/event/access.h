/*
 * access.h - the vocabulary of memory accesses, shared by the runtime (which records them), the
 * race record (which names them) and the reporter.
 */
#ifndef DH_EVENT_ACCESS_H
#define DH_EVENT_ACCESS_H

/* Bit flags of an access. All but the last travel in 4 bits of an access record: see runtime/ids.h. */
enum dh_access {
    DH_READ = 0,
    DH_WRITE = 1,  /* a write, or a read-modify-write */
    DH_ATOMIC = 2, /* two atomic accesses never race with each other */
    DH_FREE = 4,   /* the write done by free(), delete, munmap() */
    DH_RANGE = 8,  /* one check for many bytes: memcpy, read(2), a struct copy */
    /* Only of atomic reads that a tap sees, and of events: checked against earlier accesses, but no later one
     * is checked against it. The use of a lock, which must not race with its initialisation, is one. */
    DH_UNKEPT = 16,
};

#endif
