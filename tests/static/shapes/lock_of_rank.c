// Locks and data in two arrays, by equal indices: of variables, of constants, in one structure, in rows and columns.
// WRONG 1: the data are by another constant
// WRONG 2: the data are by the next index
// WRONG 3: rows of the locks are shorter than rows of the data
// WRONG 4: the lock is by the row only
// WRONG 5: the index wraps
// WRONG 6: main uses another constant
#include "shapes.h"

enum { ROWS = 4, COLUMNS = 8 };
struct {
    int data[10];
    pthread_mutex_t lock[10];
} both;
int grid[ROWS][COLUMNS];
pthread_mutex_t locks[ROWS][COLUMNS - W3(1, 0)];

static void *thread(void *arg)
{
    unsigned i = (unsigned)input() % ROWS, k = (unsigned)input() % (COLUMNS - 1);
    pthread_mutex_lock(&both.lock[i]);
    both.data[W5((unsigned char)(i + 255), i W2(+1, ))]++; // HERE
    pthread_mutex_unlock(&both.lock[i]);
    pthread_mutex_lock(&both.lock[4]);
    both.data[W1(2, 4)]++; // HERE
    pthread_mutex_unlock(&both.lock[4]);
    pthread_mutex_lock(&locks[i][W4(0, k)]);
    grid[i][k W4(+(unsigned)input() % 2, )]++; // HERE
    pthread_mutex_unlock(&locks[i][W4(0, k)]);
    return arg;
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < 10; i++)
        pthread_mutex_init(&both.lock[i], NULL);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS - 1; k++)
            pthread_mutex_init(&locks[i][k], NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&both.lock[W6(3, 2)]);
    both.data[2] = 0; // HERE
    pthread_mutex_unlock(&both.lock[W6(3, 2)]);
    int i = input() % ROWS, k = input() % (COLUMNS - 1);
    pthread_mutex_lock(&locks[i][k]);
    grid[i][k] = 0; // HERE
    pthread_mutex_unlock(&locks[i][k]);
    return pthread_join(t, NULL);
}
