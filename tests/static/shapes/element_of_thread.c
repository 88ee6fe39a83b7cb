// Each thread has an element of its own: by its number, by a pointer, by what is computed from the number, a row of a table.
// WRONG 1: two threads have one number
// WRONG 2: the number is divided
// WRONG 3: the number is cut short, so that two are one
// WRONG 4: the row is left
// WRONG 5: an odd element is used for an even one
// WRONG 6: the number is read from a variable that the loop goes on to change
#include "shapes.h"

enum { N = 8 };
struct work {
    long in, out;
    char text[16];
} work[N];
int by_number[N], shifted[N + 1], before[N], twice[2 * N], rows[N][16], *dynamic;

static void *thread(void *arg)
{
    long id = W6(*(int *)arg, (long)arg);
    by_number[W3(id & 3, W2(id / 2, id))] = 1; // HERE
    shifted[id + 1] = 2;                       // HERE
    twice[2 * id] = 3;                         // HERE
    twice[id * 2 + W5((id < 7) * 2, 1)] = 4;   // HERE
    for (int k = 0; k < 16; k++)
        rows[id][k W4(+k, )] = k;  // HERE
    (&rows[id][0])[W4(16, 0)] = 1; // HERE
    dynamic[(int)id] = 5;          // HERE
    return NULL;
}

static void *worker(void *arg)
{
    struct work *w = arg;
    for (long i = 0; i < w->in; i++) // HERE
        w->text[i & 15]++;           // HERE
    w->out = w->text[0];             // HERE
    return arg;
}

static void *counting_from_one(void *arg)
{
    before[(long)arg - 1] = 1; // HERE
    return arg;
}

int main(void)
{
    pthread_t t[N + 1];
    long sum = 0;
    int number;
    dynamic = malloc(N * sizeof *dynamic);
    for (number = 0; number < N; number++)
        pthread_create(&t[number], NULL, thread, W6(&number, (void *)(long)(W1(number / 2, number))));
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    for (int i = N - 1; i >= 0; i--) {
        work[i].in = i; // HERE
        pthread_create(&t[i], NULL, worker, &work[W1(0, i)]);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        sum += work[i].out; // HERE
    }
    for (long i = 1; i <= N; i++)
        pthread_create(&t[i], NULL, counting_from_one, (void *)i);
    for (long i = 1; i <= N; i++)
        pthread_join(t[i], NULL);
    free(dynamic);
    return (int)sum + before[0];
}
