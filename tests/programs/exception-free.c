// A free that races with a write is not made: the block is still there. And one race that is raised too late
// to stop it: a read from a file, whose extent is known when it returns.
// OPTIONS: on_race=exception
#include <setjmp.h>
#include <unistd.h>

#include <deadheat/race.h>

#include "invisible.h"

static void *volatile where;
char buffer[8];
static int raised, late, jumping;
static jmp_buf back;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    raised++;
    late += race->late;
    MUST(race->second.kind == (jumping ? DH_RACE_FREE : DH_RACE_WRITE));
    if (jumping)
        longjmp(back, 1);
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    int *p = malloc(40);
    p[3] = 5;      // RACE a:write
    buffer[0] = 1; // RACE b:write
    hide((void **)&where, p);
    mark();
    return NULL;
}

THREAD(second)
{
    int ends[2];
    after(1);
    int *p = seek((void **)&where);
    jumping = 1;
    if (setjmp(back) == 0) {
        free(p); // RACE a:free
        abort();
    }
    jumping = 0;
    MUST(malloc(40) != p);
    MUST(pipe(ends) == 0 && write(ends[1], "xyz", 3) == 3);
    MUST(read(ends[0], buffer, sizeof(buffer)) == 3); // RACE b:write
    MUST(buffer[0] == 'x');
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(raised == 2 && late == 1);
    return 0;
}
