// FLAGS -O0
// The lock of one element is held, and the access goes on into the next one. Spin locks are so small that several fit
// into what a copy covers.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    pthread_mutex_t lock;
    char text[24];
} slots[8];
struct spun {
    pthread_spinlock_t lock;
    char byte[4];
} spun[8];

static void *thread(void *arg)
{
    int i = rand() % 6;
    pthread_mutex_lock(&slots[i].lock);            // PAIR d
    slots[i].text[0] = 1;                          // PAIR a:sound
    memset(slots[i].text, 0, 2 * sizeof slots[0]); // PAIR a b:sound d
    pthread_mutex_unlock(&slots[i].lock);
    pthread_spin_lock(&spun[i].lock); // PAIR e
    memset(spun[i].byte, 0, 12);      // PAIR c:sound e
    pthread_spin_unlock(&spun[i].lock);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
