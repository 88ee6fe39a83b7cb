// Memory that is mapped at two addresses: it is stored at one, and found at the other.
// RULE: store
#include <sys/mman.h>
#include <unistd.h>

#include "escape.h"

static struct node **views[2];

__attribute__((constructor)) static void map(void)
{
    int file = memfd_create("views", 0);

    MUST(file >= 0 && ftruncate(file, 4096) == 0);
    for (int i = 0; i < 2; i++) {
        views[i] = (struct node **)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        MUST(views[i] != MAP_FAILED);
    }
}

static void publish(struct node *n)
{
    views[0][unknown(7)] = n;
}

static struct node *receive(void)
{
    return views[1][unknown(7)];
}
