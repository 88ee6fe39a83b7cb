/*
 * pairs_words.c - the wording for the contents of a table of pairs.
 */
#include "report/pairs.h"

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

/* The word for a bit: words[i] is that of 1 << i. */
static const struct dh_pairs_word *word(const struct dh_pairs_word *words, size_t n, u32 bit)
{
    static const struct dh_pairs_word none = {"", ""};
    size_t i = 0;
    while (i < n && bit != 1u << i)
        i++;
    return i < n && words[i].name ? &words[i] : &none;
}

const struct dh_pairs_word *dh_pairs_reason(u32 bit)
{
    static const struct dh_pairs_word reasons[] = {
        {"two-threads", "threads of both kinds may run at the same time"},
        {"instances", "several threads may run the same code at the same time"},
        {"creator", "the creating thread continues while the created one runs"},
        {"no-locks", "neither side is known to hold a lock"},
        {"one-unlocked", "one side holds a lock, the other is not known to hold one"},
        {"other-locks", "both sides hold locks, but none in common"},
        {"many-locks",
         "both sides hold a lock of the same name, but there are many such locks, and they may differ"},
        {"shared-mode", "both sides hold their common lock for reading only"},
        {"may-alias", "the two addresses may be equal, but that is not certain"},
        {"atomic", "one access is atomic, but the other is not"},
        {"not-joined", "the other thread is not known to have ended by then"},
        {"outside", "the address passes through code outside the program"},
        {"cast", "an address was made from an integer"},
        {"free", "one side frees memory that the other side uses"},
    };
    _Static_assert(DH_PAIRS_REASONS == (1u << DH_ARRAY_LEN(reasons)) - 1, "a word for each reason");
    return word(reasons, DH_ARRAY_LEN(reasons), bit);
}

const struct dh_pairs_word *dh_pairs_flag(u32 bit)
{
    static const struct dh_pairs_word flags[] = {
        {"relay", "It is in the style relay: the sides hold no lock in common."},
        {"sound", "It is in the style sound: nothing rules it out."},
        {"ad-hoc",
         "The program waits in a loop for this flag to change: ad-hoc synchronisation, which is a race on "
         "the flag itself unless it is atomic."},
        {"if-barriers",
         "--assume=barriers drops it: barriers separate the two, if all threads of a kind take part in "
         "them."},
        {"if-partition",
         "--assume=partition drops it: each thread uses its own part of the array, if no two have the same "
         "index."},
        {"if-published",
         "Assuming `published` drops it, as relay does: one side initialises the object, if that is done "
         "before others can see it."},
        {"if-owned",
         "Assuming `owned` drops it, as relay does: the object is passed from thread to thread, if the "
         "thread that takes it out of a container, under its lock, has it alone."},
        {"if-exit",
         "Assuming `exit` drops it, as relay does: one side runs when the program ends, if the other threads "
         "have finished by then."},
        {"if-callbacks",
         "Assuming `callbacks` drops it, as relay does: one side is called by code outside the program, if "
         "such code calls nothing back after it has returned."},
        {"if-members",
         "Assuming `members` drops it, as relay does: the two sides access different members, or members of "
         "unrelated structures, if the pointers point to what they are declared to point to."},
    };
    _Static_assert(DH_PAIRS_IF_MEMBERS == 1u << (DH_ARRAY_LEN(flags) - 1), "a word for each flag");
    return word(flags, DH_ARRAY_LEN(flags), bit);
}
