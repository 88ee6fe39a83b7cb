/*
 * victim.c - one program, many ways to make life hard for the runtime inside it; run.sh says what must come
 * out.
 *
 *     victim MODE     prints "done" and returns 3 (or 1 and a sentence if its world is not as it should be)
 *
 * `race(n)` races on the n-th of a few globals; the two threads are joined, so nothing else is racy.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(x)                                               \
    do {                                                      \
        if (!(x)) {                                           \
            printf("line %d: %s, %d\n", __LINE__, #x, errno); \
            fflush(stdout);                                   \
            _exit(1);                                         \
        }                                                     \
    } while (0)

static int shared[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *bump(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

static void *bump_0(void *arg)
{
    shared[0]++;
    return arg;
}

static void *bump_1(void *arg)
{
    shared[1]++;
    return arg;
}

static void *bump_2(void *arg)
{
    shared[2]++;
    return arg;
}

static void *bump_3(void *arg)
{
    shared[3]++;
    return arg;
}

static void *bump_locked(void *arg)
{
    pthread_mutex_lock(&mutex);
    ++*(int *)arg;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void two(void *(*fn)(void *), void *arg)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        MUST(pthread_create(&t[i], NULL, fn, arg) == 0);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(t[i], NULL) == 0);
}

static void race(int n)
{
    static void *(*const fn[])(void *) = {bump_0, bump_1, bump_2, bump_3};
    two(fn[n], NULL);
}

static void mode_race(void)
{
    race(0);
}

static void mode_quiet(void)
{
    two(bump_locked, &shared[0]);
}

/* The reporter must not be among the program's children. */
static void mode_wait(void)
{
    race(0);
    errno = 0;
    MUST(wait(NULL) == -1 && errno == ECHILD);
    MUST(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    pid_t pid = fork();
    if (pid == 0)
        _exit(5);
    int status = 0;
    MUST(wait(&status) == pid && WEXITSTATUS(status) == 5);
    MUST(wait(NULL) == -1 && errno == ECHILD);
}

static int children_ended;

static void on_child(int sig)
{
    (void)sig;
    children_ended++;
}

static void mode_sigchld(void)
{
    signal(SIGCHLD, on_child);
    race(0);
    MUST(children_ended == 0);
}

/* As daemons do. The number of the runtime's own descriptor must not come back as one of ours. */
static void mode_close_all(void)
{
    race(0);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    MUST(dup(0) == 3);
    race(1);
}

static void mode_close_range(void)
{
    race(0);
    MUST(close_range(3, ~0u, 0) == 0);
    race(1);
    closefrom(3);
    race(2);
}

/* All descriptors in use: the reporter cannot even be started. */
static void mode_no_descriptors(void)
{
    while (dup(0) >= 0)
        ;
    race(0);
}

static void mode_daemon(void)
{
    race(0);
    int end[2];
    char c = 0;
    MUST(pipe(end) == 0);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        setsid();
        if (fork() > 0)
            _exit(0);
        race(1);
        MUST(write(end[1], "x", 1) == 1);
        exit(4);
    }
    close(end[1]);
    MUST(read(end[0], &c, 1) == 1 && c == 'x');
    MUST(read(end[0], &c, 1) == 0); /* it has ended, its report with it */
    MUST(waitpid(pid, NULL, 0) == pid);
}

static char *self;

static void mode_exec(void)
{
    race(0);
    execl(self, self, "quiet", (char *)NULL);
    MUST(0);
}

static void mode_vfork_exec(void)
{
    int status;
    for (int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(127);
        }
        MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    }
}

/* Options are read once; what the program makes of the variable later is its own business. */
static void mode_setenv(void)
{
    setenv("DEADHEAT_OPTIONS", "nonsense=1", 1);
    race(0);
    clearenv();
    race(1);
}

static void mode_chroot(void)
{
    char dir[] = "/tmp/victim-XXXXXX";
    MUST(mkdtemp(dir) != NULL);
    if (chroot(dir) != 0 || chdir("/") != 0 || setgid(65534) != 0 || setuid(65534) != 0) {
        rmdir(dir);
        puts("not permitted");
        exit(77);
    }
    race(0);
}

static void mode_sixty_four(void)
{
    pthread_t t[64];
    for (int i = 0; i < 64; i++)
        MUST(pthread_create(&t[i], NULL, bump, &shared[0]) == 0);
    for (int i = 0; i < 64; i++)
        MUST(pthread_join(t[i], NULL) == 0);
}

static pthread_barrier_t barrier;

static void *live(void *arg)
{
    bump_locked(arg);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void mode_thousand(void)
{
    static pthread_t t[1000];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    pthread_barrier_init(&barrier, NULL, 1000);
    for (int i = 0; i < 1000; i++)
        MUST(pthread_create(&t[i], &attr, live, &shared[0]) == 0);
    for (int i = 0; i < 1000; i++)
        MUST(pthread_join(t[i], NULL) == 0);
    MUST(shared[0] == 1000);
    race(1);
}

static __attribute__((noinline)) int recurse(volatile int *p, int depth)
{
    *p = depth;
    if (depth == 0) {
        race(0);
        return 0;
    }
    volatile int r = recurse(p, depth - 1);
    return r + (*p == 0);
}

static void mode_deep(void)
{
    int x = 0;
    MUST(recurse(&x, 100000) == 100000);
}

static __attribute__((noinline)) int overflow(volatile char *above)
{
    volatile char here[256];
    here[0] = above ? above[0] : 1;
    return overflow(here) + here[0];
}

static void mode_overflow(void)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    MUST(overflow(NULL) != 0);
}

static void *overflow_thread(void *arg)
{
    overflow(arg);
    return NULL;
}

static void mode_overflow_thread(void)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    two(overflow_thread, NULL);
}

static jmp_buf out;

static __attribute__((noinline)) int dive(volatile int *p, int depth)
{
    if (depth == 0)
        longjmp(out, *p);
    volatile int r = dive(p, depth - 1);
    return r;
}

static void mode_longjmp(void)
{
    static volatile int n;
    for (n = 1; n <= 300; n++) {
        int got = setjmp(out);
        if (got == 0)
            dive(&n, 5000);
        MUST(got == n);
    }
    race(0);
}

/* A large mapping touched here and there: the shadow must be as sparse. */
static void mode_sparse(void)
{
    size_t n = (size_t)2 << 30;
    volatile char *p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(p != MAP_FAILED);
    for (size_t at = 0; at < n; at += n / 16)
        p[at] = 1;
    two(bump, (int *)(p + n - 4096));
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    MUST(r.ru_maxrss < 64 << 10);
    MUST(munmap((void *)p, n) == 0);
    getrusage(RUSAGE_SELF, &r);
    MUST(r.ru_maxrss < 64 << 10);
}

static pthread_barrier_t begun;

static void *bump_when_told(void *arg)
{
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&begun);
    ++*(int *)arg;
    return NULL;
}

/* Threads that start while the address space is nearly used up, so that there is none for their shadow call stacks.
 * Others have used their stacks before, so that all else is there. */
static void mode_no_frames(void)
{
    const size_t size = 4 << 20, less = 64 << 10;
    char *stacks = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long pages = 0;
    struct rlimit old, low;
    pthread_t t[2];
    pthread_attr_t attr;
    FILE *f = fopen("/proc/self/statm", "r");
    MUST(stacks != MAP_FAILED && f && getrlimit(RLIMIT_AS, &old) == 0 && pthread_attr_init(&attr) == 0);
    for (int i = 0; i < 2; i++) {
        MUST(pthread_attr_setstack(&attr, stacks + i * size, size) == 0);
        MUST(pthread_create(&t[i], &attr, bump_locked, &shared[1]) == 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_init(&begun, NULL, 3);
    MUST(fscanf(f, "%lu", &pages) == 1 && fclose(f) == 0);
    low = (struct rlimit){pages * 4096, old.rlim_max};
    MUST(setrlimit(RLIMIT_AS, &low) == 0);
    for (int i = 0; i < 2; i++) { /* of another size, or the former shadow stacks would be used again */
        MUST(pthread_attr_setstack(&attr, stacks + i * size, size - less) == 0);
        MUST(pthread_create(&t[i], &attr, bump_when_told, &shared[0]) == 0);
    }
    pthread_barrier_wait(&begun);
    MUST(setrlimit(RLIMIT_AS, &old) == 0);
    pthread_barrier_wait(&begun);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

/* All the memory there is. It must end in NULL, not in death. */
static void mode_eat(void)
{
    static char
        *volatile seen; /* or the compiler leaves out the allocation, and with it the end of the loop */
    char *p;
    while ((p = seen = malloc(100000)) != NULL)
        memset(p, 1, 100000);
    while ((p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) !=
           MAP_FAILED)
        p[100] = 1;
    MUST(errno == ENOMEM);
}

static sem_t last_done;

/* Every thread creates the next and ends; the last makes two that race and have a long line of ancestors. */
static void *descend(void *arg)
{
    int *left = arg;
    if (--*left == 0) {
        race(0);
        sem_post(&last_done);
        return NULL;
    }
    pthread_t next;
    MUST(pthread_create(&next, NULL, descend, left) == 0 && pthread_detach(next) == 0);
    return NULL;
}

static void mode_ancestors(void)
{
    int left = 3000;
    sem_init(&last_done, 0, 0);
    descend(&left);
    sem_wait(&last_done);
}

static pthread_mutex_t held[120];

/* Take every lock at the end of a long chain of calls, then race: a record with all those stacks is huge. */
static __attribute__((noinline)) int lock_deep(int which, int depth)
{
    if (depth == 0)
        return pthread_mutex_lock(&held[which]);
    volatile int rc = lock_deep(which, depth - 1);
    return rc;
}

static void *race_with_locks(void *arg)
{
    if (arg)
        for (int i = 0; i < 120; i++)
            MUST(lock_deep(i, 250) == 0);
    shared[0]++;
    return NULL;
}

static void mode_huge_record(void)
{
    pthread_t t[2];
    for (size_t i = 0; i < 120; i++)
        pthread_mutex_init(&held[i], NULL);
    for (size_t i = 0; i < 2; i++)
        MUST(pthread_create(&t[i], NULL, race_with_locks, i ? held : NULL) == 0);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(t[i], NULL) == 0);
}

static void mode_many_mutexes(void)
{
    enum { N = 200000 };
    pthread_mutex_t *m = calloc(N, sizeof(*m));
    MUST(m);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            pthread_mutex_lock(&m[i]);
            shared[0]++;
            pthread_mutex_unlock(&m[i]);
        }
    race(1);
    free(m);
}

static void mode_atexit(void)
{
    atexit(mode_race);
}

static pthread_key_t key;

static void destroy(void *arg)
{
    ++*(int *)arg;
}

static void *use_key(void *arg)
{
    pthread_setspecific(key, arg);
    return NULL;
}

static void mode_tsd(void)
{
    pthread_key_create(&key, destroy);
    two(use_key, &shared[0]);
}

static void on_signal(int sig)
{
    (void)sig;
    shared[0]++;
}

static void *raise_signal(void *arg)
{
    pthread_kill(pthread_self(), SIGUSR1);
    return arg;
}

static void mode_handler(void)
{
    signal(SIGUSR1, on_signal);
    two(raise_signal, NULL);
}

static volatile int stop;

static void *allocate(void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        free(malloc(100));
    return arg;
}

static void mode_fork_loop(void)
{
    pthread_t t[2];
    int status;
    for (int i = 0; i < 2; i++)
        MUST(pthread_create(&t[i], NULL, allocate, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char *p = malloc(1000);
            memset(p, 1, 1000);
            free(p);
            two(bump_locked, &shared[0]);
            _exit(7);
        }
        MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(t[i], NULL) == 0);
}

/* The first child of a process; 0 if that cannot be told. */
static int child_of(int pid)
{
    char path[64], text[32] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    FILE *f = fopen(path, "r");
    if (f && !fgets(text, sizeof(text), f))
        text[0] = 0;
    if (f)
        fclose(f);
    return atoi(text);
}

/* Somebody ends the reporter, which stands behind a process of its own, in the middle of the run. */
static void mode_kill_reporter(void)
{
    race(0);
    int nurse = child_of(getpid()), reporter = nurse ? child_of(nurse) : 0;
    if (!reporter) {
        puts("cannot find the reporter");
        exit(77);
    }
    MUST(kill(reporter, SIGKILL) == 0);
    while (child_of(nurse) == reporter)
        usleep(1000);
    race(1);
}

static void mode_sigpipe(void)
{
    race(0);
    puts("into a pipe without a reader");
    fflush(stdout);
    race(1);
}

static void *turns(void *arg)
{
    for (int i = 0; i < 500000; i++) {
        pthread_mutex_lock(&mutex);
        ++*(int *)arg;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* More epochs than fit between two collections, which need a system call that the program now forbids. */
static void mode_filter(void)
{
    struct sock_filter no_membarrier[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, no_membarrier};
    if (getenv("VICTIM_FILTER")) {
        MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    }
    two(turns, &shared[0]);
}

#define MODE(name) {#name, mode_##name}
static const struct {
    const char *name;
    void (*fn)(void);
} modes[] = {
    MODE(race),          MODE(quiet),   MODE(wait),        MODE(sigchld),   MODE(close_all),
    MODE(close_range),   MODE(daemon),  MODE(exec),        MODE(setenv),    MODE(no_descriptors),
    MODE(vfork_exec),    MODE(chroot),  MODE(sixty_four),  MODE(thousand),  MODE(deep),
    MODE(overflow),      MODE(longjmp), MODE(sparse),      MODE(atexit),    MODE(many_mutexes),
    MODE(tsd),           MODE(handler), MODE(fork_loop),   MODE(sigpipe),   MODE(overflow_thread),
    MODE(kill_reporter), MODE(eat),     MODE(huge_record), MODE(ancestors), MODE(no_frames),
    MODE(filter),
};

__attribute__((constructor)) static void before_main(void)
{
    if (getenv("VICTIM_CONSTRUCTOR"))
        race(3);
}

int main(int argc, char **argv)
{
    self = argv[0];
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].fn();
            puts("done");
            return 3;
        }
    }
    return 2;
}
