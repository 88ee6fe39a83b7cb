// A stencil that forgot its second barrier: one thread is in the next round while the other still reads.
#include "invisible.h"

pthread_barrier_t b;
int cell;

THREAD(writer)
{
    cell = 1;
    pthread_barrier_wait(&b);
    after(1);
    cell = 2; // RACE a:write
    return NULL;
}

THREAD(reader)
{
    pthread_barrier_wait(&b);
    use(cell); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&b, NULL, 2);
    both(writer, reader);
    return 0;
}
