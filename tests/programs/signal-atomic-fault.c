// An atomic operation that faults: the handler may leave by siglongjmp, or mend the page and return.
// NO RACE
// TSAN: it hangs in the fault
// OUTPUT: done
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "invisible.h"

static _Atomic int *page;
static atomic_int others;
static sigjmp_buf back;
static volatile int mend;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    MUST(info->si_addr == (void *)page);
    atomic_fetch_add(&others, 1); /* an operation of its own, between the two halves of the other */
    if (!mend)
        siglongjmp(back, 1);
    MUST(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
}

THREAD(worker)
{
    atomic_fetch_add(page, 1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    MUST(sigaction(SIGSEGV, &action, NULL) == 0);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0) {
            atomic_store(page, 1);
            MUST(0);
        }
    mend = 1;
    atomic_fetch_add(page, 5);
    both(worker, worker);
    MUST(atomic_load(page) == 7 && atomic_load(&others) == 4);
    puts("done");
    return 0;
}
