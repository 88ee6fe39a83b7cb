// Local variables, arrays of variable length and alloca memory lent to another thread and got back, not by a
// join: the function returns, and the next one has its variables in the same place.
// NO RACE
#include <alloca.h>
#include <semaphore.h>

#include "invisible.h"

static sem_t lent, returned;
static int *loan;
static int length;

THREAD(borrower)
{
    for (;;) {
        sem_wait(&lent);
        if (!loan)
            return NULL;
        for (int i = 0; i < length; i++)
            loan[i]++;
        sem_post(&returned);
    }
}

static void lend(int *p, int n)
{
    loan = p;
    length = n;
    sem_post(&lent);
    sem_wait(&returned);
}

__attribute__((noinline)) static int fixed(int n)
{
    int array[8];

    for (int i = 0; i < 8; i++)
        array[i] = n;
    lend(array, 8);
    return array[7];
}

__attribute__((noinline)) static int variable(int n)
{
    int array[n];

    for (int i = 0; i < n; i++)
        array[i] = n;
    lend(array, n);
    return array[n - 1];
}

__attribute__((noinline)) static int allocated(int n)
{
    int *array = alloca(sizeof(int) * n);

    for (int i = 0; i < n; i++)
        array[i] = n;
    lend(array, n);
    return n > 3 ? allocated(n - 1) : array[0];
}

int main(void)
{
    pthread_t t;

    sem_init(&lent, 0, 0);
    sem_init(&returned, 0, 0);
    t = spawn(borrower, NULL);
    for (int i = 3; i < 30; i++)
        MUST(fixed(i) == i + 1 && variable(i) == i + 1 && allocated(i) == 4);
    loan = NULL;
    sem_post(&lent);
    join(t);
    return 0;
}
