// A library whose objects are not to be used by two threads at once says so for each call.
#include <sanitizer/tsan_interface.h>

#include "../programs/invisible.h"

static void *tag;
static long object, guarded;

__attribute__((noinline)) static void change(void *it)
{
    __tsan_external_write(it, __builtin_return_address(0), tag); // RACE e:write
}

__attribute__((noinline)) static void look_at(void *it)
{
    __tsan_external_read(it, __builtin_return_address(0), tag); // RACE e:read
}

THREAD(first)
{
    change(&guarded);
    __tsan_release(&guarded);
    change(&object);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    __tsan_acquire(&guarded);
    look_at(&guarded);
    look_at(&object);
    return NULL;
}

int main(void)
{
    tag = __tsan_external_register_tag("Thing");
    MUST(tag && __tsan_external_register_tag("Other") != tag);
    __tsan_external_register_header(tag, "race on a thing");
    __tsan_external_assign_tag(&object, tag);
    both(first, second);
    return 0;
}
