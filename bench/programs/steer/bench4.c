/*
 * bench4.c - RaceMob (SOSP 2013), figure 7, from its caption: races that depend on the input. Two threads
 * access x, y or z if the input is 1, 2 or 3, and nothing otherwise. Any detector sees such a race, but only
 * in a run with that input.
 */
#include "../program.h"

static int input;
static int x, y, z;

THREAD(t0)
{
    if (input == 1)
        x = 1; // RACE x
    if (input == 2)
        y = 1; // RACE y
    if (input == 3)
        z = 1; // RACE z
    mark();
    return NULL;
}

THREAD(t1)
{
    after(1);
    if (input == 1)
        use(x); // RACE x
    if (input == 2)
        y = 2; // RACE y
    if (input == 3)
        use(z); // RACE z
    return NULL;
}

int main(int argc, char **argv)
{
    input = argc > 1 ? atoi(argv[1]) : 0;
    both(t0, t1);
    use(x + y + z);
    printf("bench4: input %d\n", input);
    return 0;
}
