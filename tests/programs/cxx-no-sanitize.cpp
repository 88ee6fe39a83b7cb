// no_sanitize("thread") on methods, templates and functions in namespaces, declared before or where they are defined.
#include "invisible.h"

int counts[6], tracked;

struct counter {
    __attribute__((no_sanitize("thread"))) void inside()
    {
        counts[0]++;
    }
    __attribute__((no_sanitize("thread"))) void outside();
    void seen()
    {
        tracked++; // RACE a
    }
};

void counter::outside()
{
    counts[1]++;
}

template <int n> struct indexed {
    __attribute__((no_sanitize("thread"))) static void count()
    {
        counts[n]++;
    }
};

template <int n> [[clang::no_sanitize("thread")]] void count()
{
    counts[n]++;
}

namespace inner
{
extern "C" {
__attribute__((no_sanitize_thread)) void in_c();
}
extern "C" void in_c()
{
    counts[4]++;
}
[[gnu::no_sanitize_thread]] static void in_namespace()
{
    counts[5]++;
}
} // namespace inner

THREAD(worker)
{
    counter c;

    after(*(int *)arg);
    c.inside();
    c.outside();
    indexed<2>::count();
    count<3>();
    inner::in_c();
    inner::in_namespace();
    c.seen();
    mark();
    return NULL;
}

int main()
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
