// What threads are given is filled in by an earlier loop, or filled in elsewhere and copied, and read again behind the join.
// WRONG 1: the earlier loop leaves some as they were
// WRONG 2: one is changed in between
// WRONG 3: the earlier loop fills in less
// WRONG 4: what is copied has been changed
// WRONG 5: a thread changes its number
// WRONG 6: two have one number
#include "shapes.h"

enum { SIZE = 8 };
struct work {
    int number, *table;
};

static void *first(void *arg)
{
    struct work *w = arg;
    w->table[w->number]++; // HERE
    return NULL;
}

static void *second(void *arg)
{
    struct work *w = arg;
    w->table[w->number]++; // HERE
    return NULL;
}

static void *third(void *arg)
{
    struct work *w = arg;
    w->table[w->number]++; // HERE
    W5(w->number = 0, );
    return NULL;
}

int main(void)
{
    pthread_t t[SIZE];
    struct work a[SIZE], b[SIZE], c[SIZE], next;
    int table[SIZE] = {0}, sum = 0;
    for (int i = 0; i < SIZE W3(-1, ); i++) {
        W1(if (input()) continue, );
        a[i].number = W6(i / 2, i);
        a[i].table = table;
    }
    W2(a[input()].number = 0, );
    for (int i = 0; i < SIZE; i++)
        pthread_create(&t[i], NULL, first, &a[i]);
    for (int i = 0; i < SIZE; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < SIZE; i++) {
        next.number = i;
        next.table = table;
        W4(if (input()) next.number = 0, );
        b[i] = next;
        pthread_create(&t[i], NULL, second, &b[i]);
    }
    for (int i = 0; i < SIZE; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < SIZE; i++) {
        c[i] = (struct work){i, table};
        pthread_create(&t[i], NULL, third, &c[i]);
    }
    for (int i = 0; i < SIZE; i++) {
        pthread_join(t[i], NULL);
        sum += table[c[i].number]; // HERE
    }
    return sum;
}
