/*
 * generate.c SEED - prints a random multithreaded C program that does the same in every run.
 *
 * Steps are dealt to threads at random and made in one order, which nothing but inline assembly keeps (invisible.h): so what
 * happens before what depends on the seed alone, and two runs have the same races. Each access is a line of its own, so that
 * no two of them are taken for repetitions of one race. Variables are words of eight bytes, accessed whole and in parts.
 */
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, WORDS = 12, MUTEXES = 3, ATOMICS = 2, STEPS = 120 };
enum { NONE = -1 };

static unsigned long state;

static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % n;
}

/* What the program's state will be at the present step. */
static int mutex_holder[MUTEXES], writer = NONE, readers[THREADS], n_readers;
static int started[THREADS], ended[THREADS];

struct step {
    int thread;
    char code[160];
};
static struct step steps[STEPS + 4 * THREADS + MUTEXES + 8];
static int n_steps;

static void put(int thread, const char *format, int a, int b, int c)
{
    struct step *s = &steps[n_steps++];
    s->thread = thread;
    snprintf(s->code, sizeof(s->code), format, a, b, c);
}

static void access_word(int thread)
{
    static const int sizes[] = {1, 2, 4, 8};
    int size = sizes[pick(4)], word = (int)pick(WORDS);
    int at = word * 8 + (int)pick((unsigned)(8 / size)) * size;
    if (pick(3) == 0)
        put(thread, "*(volatile uint%d_t *)(words + %d) = %d;", size * 8, at, n_steps & 63);
    else
        put(thread, "use((long)*(volatile uint%d_t *)(words + %d));", size * 8, at, 0);
    if (pick(12) == 0)
        put(thread, "memcpy(&local, words + %d, %d);", word * 8 + 1, 1 + (int)pick(6), 0);
}

static void mutex_step(int thread)
{
    int m = (int)pick(MUTEXES);
    if (mutex_holder[m] == NONE) {
        put(thread, "pthread_mutex_lock(&mutex[%d]);", m, 0, 0);
        mutex_holder[m] = thread;
    } else if (mutex_holder[m] == thread) {
        put(thread, "pthread_mutex_unlock(&mutex[%d]);", m, 0, 0);
        mutex_holder[m] = NONE;
    }
}

static void rwlock_step(int thread)
{
    if (writer == thread) {
        put(thread, "pthread_rwlock_unlock(&rwlock);", 0, 0, 0);
        writer = NONE;
    } else if (readers[thread]) {
        put(thread, "pthread_rwlock_unlock(&rwlock);", 0, 0, 0);
        readers[thread] = 0;
        n_readers--;
    } else if (writer == NONE && n_readers == 0 && pick(2)) {
        put(thread, "pthread_rwlock_wrlock(&rwlock);", 0, 0, 0);
        writer = thread;
    } else if (writer == NONE) {
        put(thread, "pthread_rwlock_rdlock(&rwlock);", 0, 0, 0);
        readers[thread] = 1;
        n_readers++;
    }
}

static void atomic_step(int thread)
{
    static const char *const forms[] = {
        "atomic_store_explicit(&flag[%d], 1, memory_order_release);",
        "use(atomic_load_explicit(&flag[%d], memory_order_acquire));",
        "atomic_store_explicit(&flag[%d], 1, memory_order_relaxed);",
        "use(atomic_load_explicit(&flag[%d], memory_order_relaxed));",
        "atomic_fetch_add_explicit(&flag[%d], 1, memory_order_acq_rel);",
        "atomic_fetch_add_explicit(&flag[%d], 1, memory_order_relaxed);",
        "use(%d), atomic_thread_fence(memory_order_acquire);",
        "use(%d), atomic_thread_fence(memory_order_release);",
        "sem_post(&sem[%d]);",
        "use(sem_trywait(&sem[%d]));",
        "free(malloc(24 + %d));",
    };
    put(thread, forms[pick(sizeof(forms) / sizeof(*forms))], (int)pick(ATOMICS), 0, 0);
}

/* Thread 0 is main, which starts the others, at any time. */
static int some_thread(void)
{
    for (;;) {
        int t = (int)pick(THREADS);
        if (ended[t])
            continue;
        if (!started[t]) {
            put(0, "thread[%d] = spawn(body%d, NULL);", t, t, 0);
            started[t] = 1;
        }
        return t;
    }
}

static void end_thread(int t)
{
    for (int m = 0; m < MUTEXES; m++) {
        if (mutex_holder[m] == t) {
            put(t, "pthread_mutex_unlock(&mutex[%d]);", m, 0, 0);
            mutex_holder[m] = NONE;
        }
    }
    if (writer == t || readers[t])
        rwlock_step(t);
    if (t == 0)
        return;
    /* Its last step makes no mark: the thread is to be able to end. */
    put(0, "join(thread[%d]);", t, 0, 0);
    ended[t] = 1;
}

static void print_body(int thread)
{
    printf("THREAD(body%d)\n{\n    unsigned char local[8];\n    use((long)local);\n", thread);
    for (int i = 0; i < n_steps; i++)
        if (steps[i].thread == thread)
            printf("    after(%d);\n    %s\n    mark();\n", i, steps[i].code);
    printf("    return NULL;\n}\n\n");
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) * 977 + 1 : 1;
    for (int m = 0; m < MUTEXES; m++)
        mutex_holder[m] = NONE;
    started[0] = 1;
    for (int i = 0; i < STEPS; i++) {
        int t = some_thread(), kind = (int)pick(10);
        if (kind < 5)
            access_word(t);
        else if (kind < 8)
            mutex_step(t);
        else if (kind < 9)
            rwlock_step(t);
        else
            atomic_step(t);
        if (pick(60) == 0 && t != 0)
            end_thread(t);
    }
    for (int t = THREADS; t-- > 0;)
        if (started[t] && !ended[t])
            end_thread(t);
    printf(
        "/* Printed by generate.c from seed %s. */\n"
        "#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdint.h>\n#include <stdio.h>\n#include "
        "<string.h>\n"
        "#include \"invisible.h\"\n\n"
        "static unsigned char words[%d] __attribute__((aligned(64)));\n"
        "static pthread_mutex_t mutex[%d];\nstatic pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;\n"
        "static atomic_int flag[%d];\nstatic sem_t sem[%d];\nstatic pthread_t thread[%d] "
        "__attribute__((unused));\n\n",
        argc > 1 ? argv[1] : "1", WORDS * 8, MUTEXES, ATOMICS, ATOMICS, THREADS);
    for (int t = THREADS; t-- > 0;)
        print_body(t);
    printf(
        "int main(void)\n{\n    printf(\"%%p\\n\", (void *)words);\n    fflush(stdout);\n    body0(NULL);\n  "
        "  return 0;\n}\n");
    return 0;
}
