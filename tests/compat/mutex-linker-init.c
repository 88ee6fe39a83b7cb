// A mutex with __tsan_mutex_linker_init begins and ends with nothing to be told, and a system call that failed has filled no
// buffer: the functions that announce them return early. In deep frames, where the stack is full of other things.
#include <sanitizer/tsan_interface.h>
#include <string.h>

#include "../programs/invisible.h"

void __sanitizer_syscall_post_impl_read(long res, long fd, long buf, long count);
void __sanitizer_syscall_post_impl_pread64(long res, long fd, long buf, long count, long pos);

char lock;
char buffer[8];
int x;

/* Leaves no zero on the stack below its caller. */
static __attribute__((noinline)) void litter(void)
{
    char junk[4096];

    memset(junk, 0x55, sizeof(junk));
    __asm__ volatile("" : : "r"(junk) : "memory");
}

THREAD(body)
{
    after(1);
    litter();
    __tsan_mutex_create(&lock, __tsan_mutex_linker_init);
    litter();
    __sanitizer_syscall_post_impl_read(-1, 0, (long)buffer, 8);
    litter();
    __sanitizer_syscall_post_impl_pread64(-1, 0, (long)buffer, 8, 0);
    __tsan_mutex_pre_lock(&lock, __tsan_mutex_try_lock);
    litter();
    __tsan_mutex_post_lock(&lock, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0);
    litter();
    __tsan_mutex_destroy(&lock, __tsan_mutex_linker_init);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(body, NULL);

    x = 1; // RACE a:write
    buffer[0] = 'x';
    mark();
    join(t);
    return 0;
}
