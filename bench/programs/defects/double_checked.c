/*
 * double_checked.c - an initialisation on first use that looks twice, and takes the lock only for the second
 * look. The object can be seen before it is complete: here because its last member is stored late, elsewhere
 * because the compiler or the processor does the same to a program that looks right (Bacon et al., "The
 * double-checked locking is broken declaration", 2000).
 *
 * Between the two stores there is a nanosecond, and threads come for the object at different times.
 */
#include "../program.h"

#include <string.h>

enum { HANDLERS = 2, LIMITS = 16, WORK = 200000 };

struct config {
    const int *limits;
    char file[];
};

static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *config_file;
static struct config *config;
static uint64_t handled[HANDLERS]; /* each by its handler */

static int *read_limits(void)
{
    int *limits = calloc(LIMITS, sizeof(*limits));

    MUST(limits);
    for (int i = 0; i < LIMITS; i++)
        limits[i] = 100 + i;
    return limits;
}

static void load_config(void)
{
    struct config *new = calloc(1, sizeof(*new) + strlen(config_file) + 1);
    const int *limits = read_limits();

    MUST(new);
    strcpy(new->file, config_file);
    config = new;
    config->limits = limits; // DEFECT
}

static const struct config *get_config(void)
{
    if (!config) {
        pthread_mutex_lock(&config_lock);
        if (!config)
            load_config();
        pthread_mutex_unlock(&config_lock);
    }
    return config;
}

static int limit_of(const struct config *c, int what)
{
    return c->limits[what % LIMITS]; // DEFECT
}

/* The first comes at once; the others when they have had something to do. */
THREAD(handler)
{
    int me = ME;
    uint64_t request = churn((uint64_t)me, (long)WORK * me);

    handled[me] = request % (uint64_t)limit_of(get_config(), me);
    return NULL;
}

int main(int argc, char **argv)
{
    config_file = argc > 1 ? argv[1] : "default";
    team(HANDLERS, handler);
    for (int i = 0; i < HANDLERS; i++)
        MUST(handled[i] < 100 + LIMITS);
    puts("double_checked: 2 requests");
    return 0;
}
