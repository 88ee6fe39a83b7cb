// Functions that programs keep from ThreadSanitizer are kept from us, in all spellings; their neighbours are not.
#include "invisible.h"

int one, two, three, tracked;

__attribute__((no_sanitize("thread"))) static void first(void)
{
    one++;
}

__attribute__((no_sanitize_thread)) static void second(void)
{
    two++;
}

[[clang::no_sanitize("address", "thread")]] static void third(void)
{
    three++;
}

__attribute__((no_sanitize("address"))) static void other(void)
{
    tracked++; // RACE a
}

THREAD(worker)
{
    after(*(int *)arg);
    first();
    second();
    third();
    other();
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, after_one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &after_one);

    join(a);
    join(b);
    return 0;
}
