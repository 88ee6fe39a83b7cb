/*
 * atomic.c - accesses that are atomic in the source, and plain instructions in machine code: atomic global|member|through|builtin.
 * One thread stores once, another loads until that is done.
 */
#include "meet.h"

static _Atomic int global;
struct state {
    long number;
    _Atomic long flag;
} state;
static int undeclared;
static const char *what;

__attribute__((noinline)) static void set(struct state *s)
{
    atomic_store_explicit(&s->flag, 1, memory_order_release); // THROUGH-STORE
}

__attribute__((noinline)) static long get(struct state *s)
{
    return atomic_load_explicit(&s->flag, memory_order_acquire); // THROUGH-LOAD
}

static void *store(void *arg)
{
    (void)arg;
    await_other();
    if (what[0] == 'g')
        atomic_store(&global, 1); // GLOBAL-STORE
    if (what[0] == 'm')
        atomic_store_explicit(&state.flag, 1, memory_order_relaxed); // MEMBER-STORE
    if (what[0] == 't')
        set(arg);
    if (what[0] == 'b')
        __atomic_store_n(&undeclared, 1, __ATOMIC_RELEASE); // BUILTIN-STORE
    say_done();
    return NULL;
}

static void *load(void *arg)
{
    long sum = 0;
    while (!is_done()) {
        if (what[0] == 'g')
            sum += atomic_load(&global); // GLOBAL-LOAD
        if (what[0] == 'm')
            sum += atomic_load_explicit(&state.flag, memory_order_relaxed); // MEMBER-LOAD
        if (what[0] == 't')
            sum += get(arg);
        if (what[0] == 'b')
            sum += __atomic_load_n(&undeclared, __ATOMIC_ACQUIRE); // BUILTIN-LOAD
    }
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    struct state *heap = calloc(1, sizeof(*heap));
    what = argc > 1 ? argv[1] : "global";
    pthread_create(&b, NULL, load, heap);
    pthread_create(&a, NULL, store, heap);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(heap);
    puts("OK");
    return 3;
}
