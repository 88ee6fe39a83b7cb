// main leaves by pthread_exit; the process goes on until its last thread is done.
// TSAN: it does not know that main can be joined
// NO RACE
// OUTPUT: last
#include <stdio.h>

#include "invisible.h"

pthread_t main_thread;
int x;

THREAD(child)
{
    pthread_join(main_thread, NULL);
    x++;
    puts("last");
    return NULL;
}

int main(void)
{
    main_thread = pthread_self();
    spawn(child, NULL);
    x = 1;
    pthread_exit(NULL);
}
