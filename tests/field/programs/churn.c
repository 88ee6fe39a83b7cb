/*
 * churn.c - a process that does not stay as it is while a thread waits: churn threads|exec|reload|replace [PLUGIN]. Threads begin
 * and end all the while; another thread calls exec; a library that others call is unloaded and loaded again; data comes to the
 * place of a library.
 */
#include "meet.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared;
static atomic_int waiting;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void *touch_often(void *arg)
{
    for (int i = 0; i < 20; i++)
        touch();
    return arg;
}

static void threads(void)
{
    for (int round = 0; round < 100; round++) {
        pthread_t all[8];
        for (int i = 0; i < 8; i++)
            pthread_create(&all[i], NULL, touch_often, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(all[i], NULL);
    }
}

static void *touch_once(void *arg)
{
    atomic_store(&waiting, (int)syscall(SYS_gettid));
    touch();
    return arg;
}

/* The other thread sleeps only if it is held. */
static void exec_meanwhile(char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, touch_once, NULL);
    while (!atomic_load(&waiting) || !is_asleep(atomic_load(&waiting)))
        continue;
    execl(argv[0], argv[0], "after", (char *)NULL);
    abort();
}

static void *call_often(void *function)
{
    for (int i = 0; i < 10000; i++)
        ((void (*)(void))function)();
    return NULL;
}

/* Until there is a breakpoint in it; or for some seconds, if nobody sets one. */
static void await_breakpoint(const void *function)
{
    char before[16];
    memcpy(before, function, sizeof(before));
    for (int i = 0; i < 5000 && memcmp(before, function, sizeof(before)) == 0; i++)
        usleep(1000);
}

static void reload(const char *path)
{
    for (int round = 0; round < 20; round++) {
        pthread_t t;
        void *handle = dlopen(path, RTLD_NOW), *function = handle ? dlsym(handle, "touch") : NULL;
        if (!function)
            abort();
        if (round == 0)
            await_breakpoint(function);
        pthread_create(&t, NULL, call_often, function);
        call_often(function);
        pthread_join(t, NULL);
        dlclose(handle);
    }
}

/* The data looks like breakpoints, and nobody changes it: not in a forked process either, which removes those. */
static void replace(const char *path)
{
    enum { PAGE = 4096 };
    int status = 1;
    void *handle = dlopen(path, RTLD_NOW), *function = handle ? dlsym(handle, "touch") : NULL;
    if (!function)
        abort();
    unsigned char *page = (unsigned char *)function - (size_t)function % PAGE;
    await_breakpoint(function);
    dlclose(handle);
    if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
        page)
        abort();
    memset(page, 6, PAGE);
    pid_t child = fork();
    for (int i = 0; i < PAGE; i++)
        if (page[i] != 6)
            _exit(1);
    if (child == 0)
        _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(2);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "threads";
    if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "exec") == 0)
        exec_meanwhile(argv);
    else if (strcmp(what, "reload") == 0 && argc > 2)
        reload(argv[2]);
    else if (strcmp(what, "replace") == 0 && argc > 2)
        replace(argv[2]);
    puts("OK");
    return 4;
}
