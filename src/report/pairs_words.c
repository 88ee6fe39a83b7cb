/*
 * pairs_words.c - the words for what a table of pairs holds.
 */
#include "report/pairs.h"

const char *dh_pairs_access_name(u8 access)
{
    static const char *const names[DH_PAIRS_ACCESSES] = {
        [DH_PAIRS_READ] = "read",
        [DH_PAIRS_WRITE] = "write",
        [DH_PAIRS_ATOMIC_READ] = "atomic read",
        [DH_PAIRS_ATOMIC_WRITE] = "atomic write",
        [DH_PAIRS_ATOMIC_UPDATE] = "atomic update",
        [DH_PAIRS_FREE] = "free",
    };
    return access < DH_PAIRS_ACCESSES ? names[access] : "access";
}

bool dh_pairs_access_writes(u8 access)
{
    return access != DH_PAIRS_READ && access != DH_PAIRS_ATOMIC_READ;
}

const char *dh_pairs_storage_name(u8 storage)
{
    static const char *const names[DH_PAIRS_STORAGES] = {
        [DH_PAIRS_GLOBAL] = "global", [DH_PAIRS_THREAD_LOCAL] = "thread-local", [DH_PAIRS_HEAP] = "heap",
        [DH_PAIRS_STACK] = "stack",   [DH_PAIRS_UNKNOWN] = "unknown",
    };
    return storage < DH_PAIRS_STORAGES ? names[storage] : "unknown";
}

static const struct {
    u32 bit;
    const char *name, *sentence;
} reasons[] = {
    {DH_PAIRS_BY_TWO_THREADS, "two-threads", "threads of both kinds may run at the same time"},
    {DH_PAIRS_BY_INSTANCES, "instances", "several threads may run the same code at the same time"},
    {DH_PAIRS_BY_CREATOR, "creator", "the thread that creates the other goes on while that one runs"},
    {DH_PAIRS_BY_NO_LOCKS, "no-locks", "neither side is sure to hold a lock"},
    {DH_PAIRS_BY_ONE_UNLOCKED, "one-unlocked", "one side holds a lock, the other is not sure to hold any"},
    {DH_PAIRS_BY_OTHER_LOCKS, "other-locks", "both sides hold locks, but none in common"},
    {DH_PAIRS_BY_MANY_LOCKS, "many-locks",
     "both sides hold a lock of the same name, but there are many such locks, and they may differ"},
    {DH_PAIRS_BY_SHARED_MODE, "shared-mode", "both sides hold their common lock for reading only"},
    {DH_PAIRS_BY_MAY_ALIAS, "may-alias", "the two addresses may be equal, though nothing says that they are"},
    {DH_PAIRS_BY_ATOMIC, "atomic", "one access is atomic, but the other is not"},
    {DH_PAIRS_BY_NOT_JOINED, "not-joined", "the other thread is not known to have ended by then"},
    {DH_PAIRS_BY_OUTSIDE, "outside", "the address passes through code outside the program"},
    {DH_PAIRS_BY_CAST, "cast", "an address was made from an integer"},
    {DH_PAIRS_BY_FREE, "free", "one side frees memory that the other side uses"},
};

const char *dh_pairs_reason(u32 bit)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(reasons); i++)
        if (reasons[i].bit == bit)
            return reasons[i].sentence;
    return "";
}

const char *dh_pairs_reason_name(u32 bit)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(reasons); i++)
        if (reasons[i].bit == bit)
            return reasons[i].name;
    return "";
}
