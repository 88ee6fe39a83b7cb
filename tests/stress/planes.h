/*
 * planes.h - did threads of the program share read planes, or take them over (engine/pending.h)? What the
 * runtime counts when it starts one. To be linked with -Wl,--wrap=dh_runtime_count.
 */
#ifndef PLANES_H
#define PLANES_H

#include <deadheat/deadheat.h>
#include <stdbool.h>

static bool planes_shared, planes_inherited __attribute__((unused)); /* atomic */

extern const char *dh_runtime_counter_name(unsigned counter);
extern void __real_dh_runtime_count(unsigned counter);
void __wrap_dh_runtime_count(unsigned counter);

/* Not strcmp: that would be the runtime's, in the middle of its own work. */
DH_UNTRACKED static bool is_named(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

DH_UNTRACKED void __wrap_dh_runtime_count(unsigned counter)
{
    const char *name = dh_runtime_counter_name(counter);
    if (is_named(name, "PLANES_SHARED"))
        __atomic_store_n(&planes_shared, true, __ATOMIC_RELAXED);
    if (is_named(name, "PLANES_INHERITED"))
        __atomic_store_n(&planes_inherited, true, __ATOMIC_RELAXED);
    __real_dh_runtime_count(counter);
}

#endif
