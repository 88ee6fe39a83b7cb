/*
 * account.c - clerks move money between three accounts under nested locks; an auditor looks on without one.
 *
 * Comparison paper, table 2 (87 lines, 3 threads): FastTrack 2, AccuLock 1, SimpleLock+ 2, MultiLock-HB 2,
 * CP 2. (The column of AccuLock adds up to its total only if its 1 is a 2.) The paper says that AccuLock
 * raises false alarms with nested locks, but none of its programs shows it: this one does, so AccuLock has 3
 * here.
 *
 * Real: `balance`, which the auditor reads without the account's lock, and `last_clerk`, which every clerk
 * signs without any.
 *
 * False: `transfers`. A clerk holds two of the three accounts' locks while counting a transfer, and any two
 * pairs out of three share one: {a,b}, {b,c} and {a,c} exclude one another. AccuLock keeps one lock set for
 * all writes and intersects: {a,b}, then {b}, then nothing. MultiLock-HB compares the sets two by two,
 * SimpleLock+ sees a lock at every access; both are silent. Eraser intersects as well and reports it;
 * MultiRace then asks its clocks and does not. The first three transfers are made in order, by three clerks;
 * AccuLock forgets the intersection when one clerk writes twice in a row.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: account: 6000 transfers, 3000000 in all
#include "program.h"

enum { ACCOUNTS = 3, OPENING = 1000000, TRANSFERS = 6000, WORK = 450 };

static pthread_mutex_t account_lock[ACCOUNTS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                                 PTHREAD_MUTEX_INITIALIZER};
static long balance[ACCOUNTS]; /* account_lock of each, says the bank; the auditor disagrees */
static long transfers;         /* any two of account_lock */
static int last_clerk;

static void post(int account, long amount)
{
    balance[account] += amount; // RACE a
}

/* The locks are taken in the order of the accounts, so two clerks cannot wait for each other. */
static void transfer(int from, int to, long amount)
{
    int low = from < to ? from : to, high = from < to ? to : from;

    pthread_mutex_lock(&account_lock[low]);
    pthread_mutex_lock(&account_lock[high]);
    post(from, -amount);
    post(to, amount);
    transfers++;
    pthread_mutex_unlock(&account_lock[high]);
    pthread_mutex_unlock(&account_lock[low]);
}

/* Clerk 0 opens the day, the auditor looks, the other clerks open; then all work at once. */
THREAD(clerk)
{
    int me = ME, from = me % ACCOUNTS, to = (me + 1) % ACCOUNTS;
    long first = part(TRANSFERS, me, threads), end = part(TRANSFERS, me + 1, threads);

    after(me == 0 ? 0 : me + 1);
    transfer(from, to, first % 97);
    last_clerk = me; // RACE b
    mark();
    after(threads + 1);
    for (long i = first + 1; i < end; i++)
        transfer(from, to, (long)(churn((uint64_t)i, (long)WORK * scale) % 97));
    return NULL;
}

THREAD(auditor)
{
    after(1);
    use(balance[0]); // RACE a:read
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t audit;
    long sum = 0, count;

    arguments(argc, argv);
    for (int i = 0; i < ACCOUNTS; i++)
        balance[i] = OPENING;
    audit = spawn(auditor, NULL);
    team(threads, clerk);
    join(audit);
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_lock(&account_lock[i]);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balance[i];
    count = transfers;
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_unlock(&account_lock[i]);
    MUST(sum == ACCOUNTS * OPENING && count == TRANSFERS && last_clerk == threads - 1);
    printf("account: %ld transfers, %ld in all\n", count, sum);
    return 0;
}
