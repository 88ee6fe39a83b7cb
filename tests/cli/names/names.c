/* Races on memory of every kind that has a name, through pointers, so that the accesses alone do not tell it. */
#include "../../programs/invisible.h"

struct pair {
    int first, second[4];
};

struct pair global;
int array[64];
__thread int before = 1; /* so that the next is not at the start of the segment */
__thread struct pair mine;
static void *on_stack, *on_stack_of_thread, *in_tls;

__attribute__((noinline)) static void set(int *p)
{
    *p = 1;
}

static void set_all(void)
{
    int *members[] = {&global.first, &global.second[1], &global.second[2]};

    for (int i = 0; i < 3; i++)
        set(members[i]); /* the same calls each time: only the variable differs */
    for (int i = 0; i < 64; i++)
        set(&array[i]);
}

THREAD(worker)
{
    struct pair theirs = {0};

    set(seek(&on_stack));
    set_all();
    set(&mine.second[2]);
    theirs.first = 1;
    hide(&in_tls, &mine.second[2]);
    hide(&on_stack_of_thread, &theirs.first);
    mark();
    after(2);
    use(theirs.first); /* finds the race on its own stack */
    return NULL;
}

__attribute__((noinline)) static void owner(void)
{
    struct pair local = {0};
    pthread_t t;

    hide(&on_stack, &local.second[3]);
    t = spawn(worker, NULL);
    after(1);
    set(&local.second[3]);
    set_all();
    set(seek(&in_tls));
    set(seek(&on_stack_of_thread));
    mark();
    join(t);
    use(local.second[3]);
}

int main(void)
{
    owner();
    return before - 1;
}
