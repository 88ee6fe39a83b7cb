// Words that are hashed are hardly ever addresses. Looking whether they are must not touch the shadow of all that they could be the
// address of.
// RULE: store
#include <sys/resource.h>

#include "escape.h"

enum { WORDS = 100000, FEW = 10000 };
static struct node *shared;

NOINLINE unsigned long hash(const char *bytes, size_t n)
{
    unsigned long h = 0;

    for (size_t i = 0; i + 8 <= n; i += 8) {
        unsigned long word;
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 29;
    }
    return h;
}

static long count_faults(void)
{
    struct rusage usage;

    MUST(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_minflt;
}

static void publish(struct node *n)
{
    unsigned long *words = (unsigned long *)malloc(WORDS * sizeof(*words)), state = 1;
    long before;

    for (int i = 0; i < WORDS; i++)
        words[i] = state = state * 6364136223846793005 + 1442695040888963407;
    before = count_faults();
    use((long)hash((const char *)words, WORDS * sizeof(*words)));
    MUST(count_faults() - before < FEW);
    shared = n;
}

static struct node *receive(void)
{
    return shared;
}
