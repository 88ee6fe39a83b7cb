// A function outside the program calls back what it is given, on the same thread or, unless that is assumed away, later.
// ASSUMED outside-code 1
#include <pthread.h>

void for_each_entry(void (*visit)(void *), void *context);
int x;

static void visit(void *context)
{
    ++*(int *)context; // PAIR a b:callbacks
}

static void *thread(void *arg)
{
    for_each_entry(visit, &x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
