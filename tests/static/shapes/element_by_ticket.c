// Each thread takes the next number from a counter, under a lock, and uses the element of that number.
// WRONG 1: the counter is read before it is locked
// WRONG 2: one kind of thread takes another lock
// WRONG 3: the counter begins anew while threads run
// WRONG 4: the number is cut short
// WRONG 5: not everybody who takes a number moves the counter on
// WRONG 6: the lock is released between reading and storing
#include "shapes.h"

enum { N = 8 };
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int next, *data;
struct {
    int first, second;
} records[2 * N];

static void *thread(void *arg)
{
    W1(int mine = next;, )
    pthread_mutex_lock(&lock);
    W1(, int mine = next;)
    W6(pthread_mutex_unlock(&lock); pthread_mutex_lock(&lock);, )
    W5(if (mine & 1), )
    next++;
    pthread_mutex_unlock(&lock);
    data[W4((unsigned char)mine, mine)] = 1;  // HERE
    records[W4(mine & 3, mine)].first = mine; // HERE
    records[mine].second++;                   // HERE
    return arg;
}

static void *twin(void *arg)
{
    pthread_mutex_lock(W2(&other, &lock));
    int mine = next;
    next = mine + 1;
    pthread_mutex_unlock(W2(&other, &lock));
    records[mine].first = 0; // HERE
    return arg;
}

int main(void)
{
    pthread_t t[N], u[N];
    data = malloc(2 * N * sizeof *data);
    for (int i = 0; i < N; i++) {
        pthread_create(&t[i], NULL, thread, NULL);
        pthread_create(&u[i], NULL, twin, NULL);
    }
    W3(pthread_mutex_lock(&lock); next = 0; pthread_mutex_unlock(&lock);, )
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        pthread_join(u[i], NULL);
    }
    return records[0].first; // HERE
}
