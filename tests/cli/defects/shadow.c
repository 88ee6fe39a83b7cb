/*
 * shadow.c - memory in places where its shadow is hard or impossible to have. run.sh says which.
 *
 *   tls       thread-local storage and heap of the first thread, wherever the layout has put them
 *   taken     memory whose shadow would lie where other memory of the program's is: the program goes on unharmed
 *   wild      an access to nothing: the program's own handler sees it, at its own address
 *   far       the same, far from all that Linux hands out
 */
#define _GNU_SOURCE 1
#include <deadheat/deadheat.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

/* src/runtime/abi/abi.h: the read cell (of the second thread) and the write cell of an address. */
#define READ_CELL(a) ((a) ^ (1ul << 45 | 1ul << 41 | 0x2B5Dul << 25 | 1ul << 24 | 1ul << 20))
#define WRITE_CELL(a) ((a) ^ (1ul << 44 | 1ul << 23))

enum { LOCALS = 1 << 20 }; /* more than the pieces in which shadow is mapped */
static _Thread_local volatile int local[LOCALS];
static sigjmp_buf back;
static void *volatile fault;

/* NULL: something else is there. */
static unsigned char *at(unsigned long addr, size_t n)
{
    unsigned char *p = mmap((void *)addr, n, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *use_page(void *arg)
{
    volatile unsigned *p = arg;
    for (int i = 0; i < 1024; i++)
        p[i] = p[i] + 1;
    atomic_fetch_add((atomic_int *)arg + 2000, 1);
    memset((char *)arg + 16384, 7, 16384);
    return NULL;
}

DH_UNTRACKED static void fill(volatile unsigned char *p)
{
    for (int i = 0; i < 65536; i++)
        p[i] = 0xA5;
}

DH_UNTRACKED static int is_intact(const volatile unsigned char *p)
{
    int intact = 1;
    for (int i = 0; i < 65536; i++)
        intact &= p[i] == 0xA5;
    return intact;
}

static unsigned long read_cell(unsigned long addr)
{
    return READ_CELL(addr);
}

static unsigned long write_cell(unsigned long addr)
{
    return WRITE_CELL(addr);
}

static void taken(unsigned long where, unsigned long (*shadow_of)(unsigned long))
{
    /* So large that it gets shadow of its own, which would lie where the other memory will be, only when it is
     * accessed. */
    const size_t reserve = 2ul << 30;
    unsigned char *squatter;
    /* About one random layout in 500 has the shadow of a library there. It cannot be in both of two places that
     * are 16 GB apart. */
    while (!(squatter = at(shadow_of(where), reserve)))
        where += 16ul << 30;
    fill(squatter);
    unsigned char *p = at(where, 65536);
    MUST(p);
    pthread_t t;
    use_page(p);
    MUST(pthread_create(&t, NULL, use_page, p) == 0 && pthread_join(t, NULL) == 0);
    MUST(((unsigned *)p)[1023] == 2 && ((int *)p)[2000] == 2 && p[20000] == 7);
    MUST(is_intact(squatter));
    MUST(munmap(p, 65536) == 0 && munmap(squatter, reserve) == 0);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    fault = info->si_addr;
    siglongjmp(back, 1);
}

static void wild(unsigned long where)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    MUST(sigaction(SIGSEGV, &action, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            *(volatile int *)where = 1;
            MUST(0);
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "tls") == 0) {
        for (int i = 0; i < LOCALS; i += 64)
            local[i] = i;
        MUST(local[LOCALS - 64] == LOCALS - 64);
        memset(calloc(1, 1 << 20), 1, 1 << 20);
    } else if (strcmp(mode, "taken") == 0) {
        taken(0x7d0000000000, read_cell);
        taken(0x7d1000000000, write_cell);
    } else if (strcmp(mode, "wild") == 0) {
        wild(0x7e5000000000);
        MUST(fault == (void *)0x7e5000000000);
        wild(16);
        MUST(fault == (void *)16);
    } else if (strcmp(mode, "far") == 0) {
        wild(0x630000000000);
    } else {
        return 2;
    }
    puts("done");
    return 0;
}
