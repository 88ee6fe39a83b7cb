/*
 * views.c - a program with a small run-time system, in which every rule of <deadheat/lard.h> matters: each view
 * of one recording (`deadheat analyze --view`) sees other races. tests/lard/run.sh says which.
 *
 * The two language-level threads are carried by two kernel threads; marks that no detector sees fix the order.
 * Each variable is written twice, by both; its name says what is needed to see that it races, or that it does
 * not.
 */
#include <deadheat/lard.h>
#include <pthread.h>

#include "invisible.h"

struct object {
    long field, more;
};

long race;              /* in every view but those that take the system's order for the program's */
long system_counter;    /* the run-time system's own: races only if its accesses count */
struct object recycled; /* cleared between: races only if that is not believed */
struct object from, to; /* moved between: the race is lost if that is not believed */
long of_one, of_two;    /* of one thread on two kernel threads; of two on one */
static dh_lard_thread *one, *two;
static pthread_mutex_t system_lock = PTHREAD_MUTEX_INITIALIZER;

static void set(long *p)
{
    dh_lard_write(p, sizeof(*p), NULL);
    *p = 1;
}

/* What the run-time system does at every turn. */
static void safepoint(void)
{
    pthread_mutex_lock(&system_lock);
    system_counter++;
    pthread_mutex_unlock(&system_lock);
}

static void *second(void *arg)
{
    (void)arg;
    dh_lard_system_begin();
    after(1);
    dh_lard_thread_switch(two);
    set(&recycled.field);
    set(&to.more);
    set(&of_two);
    dh_lard_thread_switch(one);
    set(&of_one);
    dh_lard_thread_switch(two);
    safepoint();
    set(&race);
    dh_lard_thread_switch(NULL);
    dh_lard_system_end();
    return NULL;
}

int main(void)
{
    dh_lard_system_begin();
    one = dh_lard_thread_new("one");
    two = dh_lard_thread_new("two");
    pthread_t t = spawn(second, NULL);
    dh_lard_thread_switch(one);
    set(&race);
    set(&recycled.field);
    set(&from.more);
    set(&of_one);
    safepoint();
    dh_lard_clear(&recycled, sizeof(recycled));
    dh_lard_move(&to, &from, sizeof(to));
    dh_lard_thread_switch(two);
    set(&of_two);
    dh_lard_thread_switch(NULL);
    system_counter++; /* without the lock: nothing of the program's */
    mark();
    join(t);
    dh_lard_system_end();
    return 0;
}
