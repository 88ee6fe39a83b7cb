// Every size and form of access, each against a write of another thread: raised before it is made, once, with what
// it is; nothing of it is in memory afterwards.
// OPTIONS: on_race=exception
// FLAGS: -D_GNU_SOURCE
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <deadheat/deadheat.h>
#include <deadheat/race.h>

#include "invisible.h"

enum { FORMS = 23, ROOM = 128 };
_Alignas(64) unsigned char memory[FORMS][ROOM];
static const unsigned char at[FORMS] = {5, 6, 8,  8,  16, 13, 24, 16, 9, 8, 8, 99,
                                        2, 3, 90, 90, 99, 4,  40, 8,  8, 8, 8};
static unsigned char before[ROOM], own[ROOM];
static jmp_buf back;
static struct dh_race_record seen;
static int raised;

struct three {
    char c[3];
};
struct words {
    long w[3];
};
struct large {
    char c[100];
};
typedef uint64_t unaligned __attribute__((aligned(1)));

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    seen = *race;
    raised++;
    longjmp(back, 1);
}

DH_UNTRACKED static void save(const volatile unsigned char *p)
{
    for (int i = 0; i < ROOM; i++)
        ((volatile unsigned char *)before)[i] = p[i];
}

DH_UNTRACKED static int is_as_before(const volatile unsigned char *p)
{
    for (int i = 0; i < ROOM; i++)
        if (((volatile unsigned char *)before)[i] != p[i])
            return 0;
    return 1;
}

THREAD(first)
{
    /* clang-format off */
    for (int i = 0; i < FORMS; i++)
        memory[i][at[i]] = 1; // RACE f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22
    /* clang-format on */
    mark();
    return NULL;
}

/* No two become one place. */
#define FORM(n, ...)                              \
    case n:                                       \
        __VA_ARGS__;                              \
        __asm__ volatile("# " #n : : : "memory"); \
        break;

static void make(int form, unsigned char *p, volatile size_t n)
{
    static const struct words words = {{~0l, ~0l, ~0l}};
    int expected = 1;
    /* clang-format off */
    switch (form) {
    FORM(0, *(volatile uint8_t *)(p + 5) = 0xee) // RACE f0
    FORM(1, *(volatile uint16_t *)(p + 6) = 0xeeee) // RACE f1
    FORM(2, *(volatile uint32_t *)(p + 8) = ~0u) // RACE f2
    FORM(3, *(volatile uint64_t *)(p + 8) = ~0ul) // RACE f3
    FORM(4, *(volatile __int128 *)(p + 16) = -1) // RACE f4
    FORM(5, *(volatile unaligned *)(p + 9) = ~0ul) // RACE f5
    FORM(6, *(volatile __int128 *)(p + 16) = -2) // RACE f6
    FORM(7, *(volatile __int128 *)(p + 16) = -3) // RACE f7
    FORM(8, *(volatile uint32_t *)(p + 8) = ~1u) // RACE f8
    FORM(9, *(volatile uint32_t *)(p + 8) += 7) // RACE f9
    FORM(10, *(struct words *)p = words) // RACE f10
    FORM(11, *(struct large *)p = *(struct large *)own) // RACE f11
    FORM(12, *(struct three *)p = *(struct three *)own) // RACE f12
    FORM(13, memcpy(p + 3, own, 1 + 0 * n)) // RACE f13
    FORM(14, memcpy(p, own, n)) // RACE f14
    FORM(15, memmove(p, own, n)) // RACE f15
    FORM(16, memset(p, 0xee, n)) // RACE f16
    FORM(17, strcpy((char *)p, (const char *)own + ROOM - 20)) // RACE f17
    FORM(18, strncpy((char *)p, "short", 64 + 0 * n)) // RACE f18
    FORM(19, atomic_store((_Atomic int *)(p + 8), -1)) // RACE f19
    FORM(20, atomic_fetch_add((_Atomic int *)(p + 8), 7)) // RACE f20
    FORM(21, atomic_exchange((_Atomic long *)(p + 8), -1)) // RACE f21
    FORM(22, atomic_compare_exchange_strong((_Atomic int *)(p + 8), &expected, -1)) // RACE f22
    }
    /* clang-format on */
}

THREAD(second)
{
    after(1);
    memset(own, 0xee, ROOM - 1);
    for (volatile int form = 0; form < FORMS; form++) {
        raised = 0;
        save(memory[form]);
        if (setjmp(back) == 0)
            make(form, memory[form], 100);
        MUST(raised == 1 && !seen.late && is_as_before(memory[form]));
        MUST(seen.record_size == sizeof(seen) && seen.first.kind == DH_RACE_WRITE && seen.first.size == 1);
        MUST(seen.second.kind == (form == 22 ? DH_RACE_READ : DH_RACE_WRITE));
        MUST(seen.second.atomic == (form >= 19) && !seen.first.atomic);
        MUST(seen.first.address == (uintptr_t)&memory[form][at[form]]);
        MUST(seen.second.address <= seen.first.address &&
             seen.first.address < seen.second.address + seen.second.size);
        MUST(seen.first.thread != seen.second.thread && seen.first.depth && seen.second.depth);
    }
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    return 0;
}
