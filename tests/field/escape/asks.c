// A program as the plugin of Caper builds would make it, by hand: barriers, and questions that are nops. What it asks:
// group 0 of private memory, 1 and 2 of a variable, 3 of a block that has escaped, 4 of a block in a copy of the process,
// or of one of 8 bytes, and 5 in a constructor that runs before main.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "field/escape/escape.h"

enum { GROUPS = 6 };

__attribute__((section("dh_caper_head"), used, retain)) static const struct dh_caper_head head = {
    .version = DH_CAPER_VERSION, .n_groups = GROUPS, .n_group_words = 0};

// Whether it was asked is counted, beside what comes of it.
static int asked;

#define ASK(p, group)                                 \
    do {                                              \
        __label__ ask, behind;                        \
        __asm__ goto(                                 \
            "1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" \
            ".pushsection " DH_CAPER_QUESTIONS        \
            ",\"aR\",@progbits\n"                     \
            ".long 1b - ., %l[ask] - ., " #group      \
            "\n"                                      \
            ".popsection" ::                          \
                : "memory"                            \
            : ask);                                   \
        goto behind;                                  \
    ask:                                              \
        asked++;                                      \
        __dh_esc_ask(p, group);                       \
    behind:;                                          \
    } while (0)

static void *global;

#ifdef OWN_MALLOC
// Another allocator: it leaves nothing between blocks, and so two may share 16 bytes.
void *malloc(size_t n)
{
    static _Alignas(16) char heap[1 << 20];
    static size_t used;
    char *p = heap + used;
    used += (n + 7) / 8 * 8;
    return used <= sizeof(heap) ? p : NULL;
}
void free(void *p)
{
}
#endif

__attribute__((constructor)) static void early(void)
{
    ASK(&global, 5);
}

static void *block(size_t n)
{
    void *p = malloc(n);
    __dh_esc_new(p, n);
    return p;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void **p = block(64), *q = block(100);
    __dh_esc_store(&p[3], (u64)q);
    p[3] = q;
    ASK(p, 0);
    ASK(&global, 1);
    ASK(&global, 2);
    __dh_esc_store(&global, (u64)p);
    global = p;
    ASK(q, 3);
    if (!strcmp(what, "fork") && fork() == 0) {
        char *own = block(50);
        __dh_esc_publish((u64)own);
        ASK(own, 4);
        exit(0);
    }
    if (!strcmp(what, "fork"))
        wait(NULL);
    if (!strcmp(what, "again"))
        execl("/proc/self/exe", argv[0], (char *)NULL);
    if (!strcmp(what, "tail")) {
        char *before = block(16 * 2 + 8), *behind = block(8);
        if ((uintptr_t)before % 16 != 0)
            before = block(8), before = block(16 * 2 + 8), behind = block(8);
        ASK(behind, 4);
    }
    if (!strcmp(what, "lock"))
        printf("locked %d, ", mlockall(MCL_CURRENT | MCL_FUTURE));
    printf("asked %d\n", asked);
    fflush(stdout);
    if (!strcmp(what, "kill"))
        raise(SIGKILL);
    return 7;
}
