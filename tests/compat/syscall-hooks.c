// <sanitizer/linux_syscall_hooks.h>, which clang has and gcc has not: what a program says of its own system calls.
// Buffers are touched, a closed pipe orders its reader, and the hooks that say nothing of interest link.
#define _GNU_SOURCE 1
#include <sys/syscall.h>
#include <unistd.h>

#include "../programs/invisible.h"

void __sanitizer_syscall_pre_impl_close(long fd);
void __sanitizer_syscall_post_impl_close(long res, long fd);
void __sanitizer_syscall_pre_impl_write(long fd, long buf, long count);
void __sanitizer_syscall_post_impl_write(long res, long fd, long buf, long count);

static int ends[2], others[2];
int x;
char text[8];

THREAD(first)
{
    long rc;

    text[1] = 'x'; // RACE a:write
    mark();
    after(2);
    x = 1;
    __sanitizer_syscall_pre_impl_close(ends[1]);
    rc = syscall(SYS_close, ends[1]);
    __sanitizer_syscall_post_impl_close(rc, ends[1]);
    return NULL;
}

THREAD(second)
{
    char c;
    long rc;

    after(1);
    __sanitizer_syscall_pre_impl_write(others[1], (long)text, 4); // RACE a:read
    rc = syscall(SYS_write, others[1], text, 4);
    __sanitizer_syscall_post_impl_write(rc, others[1], (long)text, 4);
    mark();
    MUST(read(ends[0], &c, 1) == 0);
    x = 2;
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0 && pipe(others) == 0);
    MUST(write(ends[1], "!", 1) == 1 && read(ends[0], text, 1) == 1); // now it is known what they are
    both(first, second);
    return 0;
}
