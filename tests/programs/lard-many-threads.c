// A hundred thousand language-level threads in turn, and a thousand at once, carried by two kernel threads.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

enum { IN_TURN = 100000, AT_ONCE = 1000 };
long sum, racy;
static dh_lard_thread *threads[AT_ONCE];
static int own[AT_ONCE];

DH_UNTRACKED static void become(int i)
{
    dh_lard_thread_switch(threads[i]);
}

static void in_turn(void)
{
    for (int i = 0; i < IN_TURN; i++) {
        dh_lard_thread *t = dh_lard_thread_new("turn");
        dh_lard_thread_switch(t);
        sum++;
        dh_lard_thread_end(t);
        dh_lard_thread_join(t);
    }
}

static void carry(int from, int step)
{
    for (int round = 0; round < 3; round++) {
        for (int i = from; i < AT_ONCE; i += step) {
            become(i);
            own[i]++;
        }
    }
    dh_lard_thread_switch(NULL);
}

THREAD(carrier)
{
    carry(0, 2);
    become(2);
    racy = 1; // RACE a
    dh_lard_thread_switch(NULL);
    mark();
    return NULL;
}

int main(void)
{
    in_turn();
    MUST(sum == IN_TURN);
    for (int i = 0; i < AT_ONCE; i++)
        threads[i] = dh_lard_thread_new("one of many");
    pthread_t t = spawn(carrier, NULL);
    carry(1, 2);
    after(1);
    become(999);
    racy = 2; // RACE a
    dh_lard_thread_switch(NULL);
    for (int i = 0; i < AT_ONCE; i++) {
        dh_lard_thread_end(threads[i]);
        dh_lard_thread_join(threads[i]);
        own[i]++;
    }
    join(t);
    return 0;
}
