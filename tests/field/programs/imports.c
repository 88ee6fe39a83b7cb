/*
 * imports.c - one write, and one read that comes later: imports HOW, where HOW is the way on which the program, or a library of
 * its, comes to the functions of libc that order the two. "none": by nothing.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../programs/invisible.h"
#include "imports.h"

enum { STACK = 1 << 20 };

static const char *how;
static long *shared;
static volatile long sink;
pthread_mutex_t imports_mutex = PTHREAD_MUTEX_INITIALIZER; /* for a constructor, too */

/* Filled in by the loader, before anything runs. */
static struct imports fixed = {pthread_mutex_lock, pthread_mutex_unlock};
static struct imports by;
static long *(*tls_block)(void);

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

static void *must(void *p)
{
    if (!p) {
        puts(dlerror());
        exit(1);
    }
    return p;
}

static void find(void *module, const char *lock, const char *unlock)
{
    by.lock = (int (*)(pthread_mutex_t *))must(dlsym(module, lock));
    by.unlock = (int (*)(pthread_mutex_t *))must(dlsym(module, unlock));
}

static void choose(void)
{
    by = fixed;
    if (is("asked"))
        find(RTLD_DEFAULT, "pthread_mutex_lock", "pthread_mutex_unlock");
    if (is("library"))
        by = (struct imports){imports_lock, imports_unlock};
    if (is("kept"))
        by = imports_kept;
    if (is("opened"))
        find(must(dlopen("./plugin.so", RTLD_LAZY)), "imports_lock", "imports_unlock");
    if (is("needed"))
        find(must(dlopen("./outer.so", RTLD_NOW)), "imports_lock", "imports_unlock");
    if (is("path"))
        find(must(imports_open("elsewhere.so")), "imports_lock", "imports_unlock");
    if (is("deep"))
        find(must(dlopen("./deep.so", RTLD_LAZY | RTLD_DEEPBIND)), "imports_lock", "imports_unlock");
    if (is("cxx")) /* its library of C++ is one that the program does not have */
        find(must(dlopen("./cxx.so", RTLD_LAZY)), "imports_lock", "imports_unlock");
    if (is("tls"))
        tls_block = (long *(*)(void))must(dlsym(must(dlopen("./tls.so", RTLD_NOW)), "imports_tls"));
}

__attribute__((noinline)) static void put(void)
{
    *shared = 1; // FIRST
}

__attribute__((noinline)) static void get(void)
{
    sink = *shared; // SECOND
}

static void *writer(void *arg)
{
    if (tls_block)
        shared = tls_block();
    put();
    if (is("direct") || is("during")) {
        pthread_mutex_lock(&imports_mutex);
        pthread_mutex_unlock(&imports_mutex);
    } else if (!is("none") && !is("tls")) {
        by.lock(&imports_mutex);
        by.unlock(&imports_mutex);
    }
    if (!is("tls"))
        mark();
    return arg;
}

static void *reader(void *arg)
{
    void *volatile own = malloc(1); /* and what libc needs itself for a thread */
    free(own);
    mark();
    after(2);
    if (is("direct")) {
        pthread_mutex_lock(&imports_mutex);
        pthread_mutex_unlock(&imports_mutex);
    } else if (is("during")) {
        must(dlopen("./during.so", RTLD_NOW));
    } else if (is("tls")) {
        char *p = malloc(IMPORTS_BLOCK);
        if ((char *)shared < p || (char *)shared >= p + IMPORTS_BLOCK)
            puts("another block");
    } else if (!is("none")) {
        by.lock(&imports_mutex);
        by.unlock(&imports_mutex);
    }
    get();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_attr_t attr;
    how = argc > 1 ? argv[1] : "none";
    shared = calloc(1, sizeof(long));
    mallopt(M_ARENA_MAX, 1);
    choose();
    pthread_attr_init(&attr);
    /* The loader itself frees what belongs to a thread on a stack of the program's. */
    if (is("tls"))
        pthread_attr_setstack(&attr, must(aligned_alloc(4096, STACK)), STACK);
    pthread_create(&b, NULL, reader, NULL);
    after(1);
    pthread_create(&a, &attr, writer, NULL);
    pthread_join(a, NULL);
    if (is("tls"))
        mark();
    pthread_join(b, NULL);
    puts("OK");
    return 0;
}
