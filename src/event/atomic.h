/*
 * atomic.h - the vocabulary of atomic operations: the pass names them in the calls it inserts, the runtime
 * acts on them.
 *
 * The values are part of the binary interface (runtime/abi.h): instrumented code passes them as constants.
 */
#ifndef DH_EVENT_ATOMIC_H
#define DH_EVENT_ATOMIC_H

/* Memory orders as in C11, and the kinds of atomic operation. */
enum dh_order { DH_RELAXED, DH_CONSUME, DH_ACQUIRE, DH_RELEASE, DH_ACQ_REL, DH_SEQ_CST };
enum dh_atomic_kind {
    DH_ATOMIC_LOAD = 0,
    DH_ATOMIC_STORE = 1,
    DH_ATOMIC_RMW = 2,       /* exchange, fetch_op, a successful compare-exchange */
    DH_ATOMIC_CAS_FAILED = 3 /* a compare-exchange that did not store, which acts as a load; before it is
                              * made: one that may or may not */
};

#endif
