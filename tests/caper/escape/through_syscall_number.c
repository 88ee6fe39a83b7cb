// A system call that is given the address as a number.
// RULE: cast
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "escape.h"

static int file;

__attribute__((constructor)) static void open_file(void)
{
    file = memfd_create("offset", 0);
    MUST(file >= 0);
}

static void publish(struct node *n)
{
    MUST(syscall(SYS_lseek, file, (long)n, SEEK_SET) == (long)n);
}

static struct node *receive(void)
{
    return (struct node *)syscall(SYS_lseek, file, 0L, SEEK_CUR);
}
