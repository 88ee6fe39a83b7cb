/*
 * torn_value.c - sixteen bytes that are read and written as two times eight: where a table is, and how long.
 * Who reads the one before and the other after a reload walks off the end of the shorter table. (Slices and
 * interfaces of Go are torn the same way in a racy program: Cox, "Off to the races", 2010.)
 *
 * The table is looked at twice, and reloaded once between; each takes some nanoseconds.
 */
#include "../program.h"

#include <string.h>

enum { FEW = 3, MANY = 400, WORK = 200000 };

struct table {
    const char *const *names;
    size_t count;
};

static struct table hosts;
static long lookups;

static size_t letters(const char *const *names, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += strlen(names[i]);
    return sum;
}

static size_t look_up(void)
{
    const char *const *names = hosts.names;

    lookups++;
    return letters(names, hosts.count); // DEFECT
}

THREAD(resolver)
{
    size_t before = look_up();
    uint64_t other = churn(before, 2L * WORK);

    use((long)other);
    MUST(look_up() >= before);
    return NULL;
}

static const char **make_names(size_t count)
{
    const char **names = malloc(count * sizeof(*names));

    MUST(names);
    for (size_t i = 0; i < count; i++)
        names[i] = i % 2 ? "localhost" : "gateway";
    return names;
}

/* The old table stays where it is, for those who still look at it. */
THREAD(reloader)
{
    const char **names = make_names(MANY);

    use((long)churn(1, WORK));
    hosts.names = names;
    hosts.count = MANY; // DEFECT
    return NULL;
}

int main(void)
{
    hosts.names = make_names(FEW);
    hosts.count = FEW;
    both(resolver, reloader);
    MUST(letters(hosts.names, hosts.count) == 400 * 8 && lookups == 2);
    puts("torn_value: 2 lookups");
    return 0;
}
