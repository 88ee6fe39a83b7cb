/* Functions of the program that the runtime calls: none of its own functions is in their stacks. */
#include <signal.h>

#include "../../programs/invisible.h"

int by_once, by_signal;
static pthread_once_t once[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};

static void initialise(void)
{
    by_once++;
}

static void handle(int sig)
{
    by_signal += sig;
}

THREAD(worker)
{
    pthread_once(arg, initialise);
    __asm__ volatile("int3");
    return NULL;
}

int main(void)
{
    signal(SIGTRAP, handle);
    pthread_t a = spawn(worker, &once[0]), b = spawn(worker, &once[1]);
    join(a);
    join(b);
    return 0;
}
