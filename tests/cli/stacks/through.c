/* Calls of plain functions (plain.c), which call what is intercepted or call back: the caller is in all their
 * stacks. */
#include <signal.h>

#include "../../programs/invisible.h"
#include "plain.h"

long by_call, by_call_again, by_qsort;
size_t plain_size = 16;
char *block, *tail_block, copied[16], by_handler[16], by_once[16];

static void __attribute__((noinline)) allocate(void)
{
    block = plain_new(3, 64);
    use(0);
}

static void __attribute__((noinline)) allocate_at_the_end(void)
{
    tail_block = plain_tail_new(64);
    use(0);
}

static void __attribute__((noinline)) copy(void)
{
    plain_copy(copied);
    use(0);
}

static void called_back(void *arg)
{
    ++*(long *)arg;
}

static void call_again(void *arg)
{
    plain_call(0, called_back, arg);
    use(0);
}

static int compare(const void *a, const void *b)
{
    by_qsort++;
    return *(const int *)a - *(const int *)b;
}

static void __attribute__((noinline)) call(void)
{
    int numbers[] = {2, 1};

    plain_call(1, called_back, &by_call);
    plain_call(0, call_again, &by_call_again);
    qsort(numbers, 2, sizeof(int), compare);
    use(numbers[0]);
}

static void __attribute__((noinline)) change(void)
{
    *block += 1;
    *tail_block += 1;
}

THREAD(worker)
{
    struct plain_task *task = arg;

    after(task->turn);
    plain_lock(task);
    copy();
    change();
    call();
    __asm__ volatile("int3");
    plain_once(task);
    plain_unlock(task);
    mark();
    return NULL;
}

int main(void)
{
    static struct plain_task task[2] = {{0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_ONCE_INIT},
                                        {1, PTHREAD_MUTEX_INITIALIZER, PTHREAD_ONCE_INIT}};

    signal(SIGTRAP, plain_handle);
    for (int i = 0; i < 3; i++) { /* what was seen once must not be forgotten, nor be taken for more */
        allocate();
        allocate_at_the_end();
    }
    pthread_t a = plain_spawn(worker, &task[0]), b = plain_spawn(worker, &task[1]);
    join(a);
    join(b);
    return 0;
}
