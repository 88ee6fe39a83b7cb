/*
 * accesses.c - counts the accesses of a program by the place that makes them: linked to a build with
 * `-fsanitize-coverage=trace-loads,trace-stores`, which calls in front of each load and store of up to 16
 * bytes.
 *
 * At the end of the program, a line for each such call goes to a file in the directory ACCESSES, which has
 * the name of the program and may be of several runs: its kind, the place in the program's file just before
 * where it returns to, and how often. For bench/caper, which finds the source lines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOT_COUNTED __attribute__((no_sanitize("coverage")))

enum { SLOT_BITS = 18, SLOTS = 1 << SLOT_BITS };

/* A thread's own; kept when it ends. */
struct counts {
    struct counts *next;
    struct {
        uintptr_t pc;
        uint64_t n;
    } at[2][SLOTS]; /* loads, stores */
};

static struct counts *all; /* atomic */
static _Thread_local struct counts *mine;

NOT_COUNTED static struct counts *begin_thread(void)
{
    struct counts *c =
        mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == MAP_FAILED)
        abort();
    c->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &c->next, c, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return mine = c;
}

NOT_COUNTED static inline void count(int kind, uintptr_t pc)
{
    struct counts *c = mine ? mine : begin_thread();
    for (uint64_t i = (uint64_t)pc * 0x9e3779b97f4a7c15ull >> (64 - SLOT_BITS);; i = (i + 1) % SLOTS) {
        if (c->at[kind][i].pc != pc && c->at[kind][i].pc)
            continue;
        c->at[kind][i].pc = pc;
        c->at[kind][i].n++;
        return;
    }
}

#define ENTRY(kind, name)                                    \
    NOT_COUNTED void __sanitizer_cov_##name(const void *p);  \
    NOT_COUNTED void __sanitizer_cov_##name(const void *p)   \
    {                                                        \
        (void)p;                                             \
        count(kind, (uintptr_t)__builtin_return_address(0)); \
    }
ENTRY(0, load1)
ENTRY(0, load2)
ENTRY(0, load4)
ENTRY(0, load8)
ENTRY(0, load16)
ENTRY(1, store1)
ENTRY(1, store2)
ENTRY(1, store4)
ENTRY(1, store8)
ENTRY(1, store16)

NOT_COUNTED static int take_bias(struct dl_phdr_info *info, size_t size, void *ret)
{
    (void)size;
    *(uintptr_t *)ret = info->dlpi_addr;
    return 1; /* the program is the first */
}

NOT_COUNTED __attribute__((destructor)) static void end(void)
{
    const char *directory = getenv("ACCESSES");
    char path[4096];
    uintptr_t bias = 0;
    if (!directory)
        return;
    snprintf(path, sizeof(path), "%s/%s", directory, program_invocation_short_name);
    FILE *out = fopen(path, "a");
    if (!out)
        return;
    dl_iterate_phdr(take_bias, &bias);
    for (struct counts *c = __atomic_load_n(&all, __ATOMIC_ACQUIRE); c; c = c->next)
        for (int kind = 0; kind < 2; kind++)
            for (int i = 0; i < SLOTS; i++)
                if (c->at[kind][i].pc)
                    fprintf(out, "%s 0x%zx %llu\n", kind ? "write" : "read",
                            (size_t)(c->at[kind][i].pc - bias - 1), (unsigned long long)c->at[kind][i].n);
    fclose(out);
}
