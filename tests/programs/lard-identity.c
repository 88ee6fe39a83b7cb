// Threads are those of the language: two on one kernel thread race, one on two kernel threads does not; making
// and joining them orders.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

static dh_lard_thread *wanderer;
int shared, travels, given, returned;

/* The run-time system's own variables are not the threads' affair. */
DH_UNTRACKED static void become(dh_lard_thread **t)
{
    dh_lard_thread_switch(*t);
}

__attribute__((noinline)) static void one(void)
{
    shared = 1; // RACE a
    MUST(given == 7);
    returned = 1;
}

__attribute__((noinline)) static void two(void)
{
    shared = 2; // RACE a
    MUST(given == 7);
}

THREAD(elsewhere)
{
    after(1);
    become(&wanderer);
    travels++; /* the same thread as before */
    dh_lard_thread_end(dh_lard_thread_self());
    mark();
    return NULL;
}

int main(void)
{
    given = 7;
    dh_lard_thread *a = dh_lard_thread_new("a"), *b = dh_lard_thread_new("b");
    wanderer = dh_lard_thread_new("wanderer");
    dh_lard_thread *self = dh_lard_thread_self();
    MUST(self != a && a != b);
    dh_lard_unordered_begin();
    pthread_t t = spawn(elsewhere, NULL);
    dh_lard_unordered_end();
    become(&a);
    one();
    become(&b);
    two();
    become(&wanderer);
    travels++;
    dh_lard_thread_switch(NULL);
    MUST(dh_lard_thread_self() == self);
    mark();
    after(2);
    dh_lard_thread_end(a);
    dh_lard_thread_end(b);
    dh_lard_thread_join(a);
    returned++;
    dh_lard_thread_detach(b);
    dh_lard_thread_join(wanderer);
    travels++;
    dh_lard_unordered_begin();
    join(t);
    dh_lard_unordered_end();
    return 0;
}
