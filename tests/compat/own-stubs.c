// A program that brings the functions of the annotations itself, as many do, keeps its own; weak ones give way.
// OUTPUT: mine
#include <stdio.h>

#include "../programs/invisible.h"

static int data;

void AnnotateHappensBefore(const char *file, int line, const volatile void *p)
{
    (void)file, (void)line, (void)p;
    puts("mine");
    fflush(stdout);
}

__attribute__((weak)) void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p,
                                                   size_t n, const char *why)
{
    (void)file, (void)line, (void)p, (void)n, (void)why;
    abort();
}

THREAD(first)
{
    data = 1; // RACE d:write
    AnnotateHappensBefore(__FILE__, __LINE__, &data);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(data); // RACE d:read
    return NULL;
}

int main(void)
{
    int local = 0;

    AnnotateBenignRaceSized(__FILE__, __LINE__, &local, sizeof(local), "");
    both(first, second);
    return 0;
}
