// Functions that set and move wide characters.
#include <pthread.h>
#include <wchar.h>

wchar_t set[16], moved[16], from[16];

static void *thread(void *arg)
{
    wmemset(set, L'x', 16);    // PAIR a
    wmemmove(moved, from, 16); // PAIR b
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    set[3] = L'y';   // PAIR a
    moved[3] = L'y'; // PAIR b
    pthread_join(t, NULL);
    return 0;
}
