// Terabytes of reserve, of which three pages are used: they are watched like any other memory.
// OUTPUT: done
#include <stdio.h>
#include <sys/mman.h>

#include "invisible.h"

#define SIZE (4ull << 40)
char *base;

THREAD(first)
{
    base[0] = 1;
    base[SIZE / 2] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    base[SIZE / 2] = 2; // RACE a:write
    base[SIZE - 1] = 2;
    return NULL;
}

int main(void)
{
    base = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(base != MAP_FAILED);
    both(first, second);
    MUST(base[0] == 1 && base[SIZE / 2] == 2 && base[SIZE - 1] == 2);
    puts("done");
    return 0;
}
