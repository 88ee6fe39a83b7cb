// In a whole program, accesses that can race with nothing get no check: what is always locked, what a thread keeps
// to itself, what was written before there were threads. What may race keeps it.
// PRUNE: yes
// RUN: -O1 -g
// EXPECT racing: write4=1
// EXPECT locked:
// EXPECT sometimes_locked: write4=1
// EXPECT never_locked: write4=1
// EXPECT own_block:
// EXPECT shown_block: write4=1
// EXPECT set_up:
// EXPECT read_settings:
// EXPECT copy_out: write_range=1
// EXPECT unreached: write4=1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline))
static struct pair { long at[5]; } ours, theirs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int raced, counted, half, setting, *shown;
static volatile int never;
APART static void racing(void) { raced++; }
APART static void locked(void) { pthread_mutex_lock(&lock); counted++; pthread_mutex_unlock(&lock); }
APART static void sometimes_locked(void) { pthread_mutex_lock(&lock); half++; pthread_mutex_unlock(&lock); }
APART static void never_locked(void) { half++; }
APART static int own_block(int *block, int i) { block[i] = i; return block[i / 2]; }
APART static void shown_block(int *block, int i) { block[i] = i; }
APART static void set_up(int n) { setting = n; }
APART static int read_settings(void) { return setting; }
APART static void copy_out(void) { memcpy(&theirs, &ours, sizeof ours); }
APART void unreached(void) { never = 1; }
static void *body(void *arg)
{
    int *own = malloc(400), *other = malloc(400);
    racing();
    locked();
    sometimes_locked();
    never_locked();
    half += own_block(own, read_settings());
    shown = other;
    shown_block(shown, 1);
    copy_out();
    free(own);
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    (void)argv;
    set_up(argc);
    ours.at[0] = argc;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, body, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    locked();
    return raced + half + (int)theirs.at[0] + *shown;
}
