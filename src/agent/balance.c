/*
 * balance.c - see balance.h.
 */
#include "agent/balance.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* Each number has 20 digits, so that a short one leaves nothing of a long one. */
enum { NUMBERS = 4, LENGTH = NUMBERS * 21 };

static const int64_t most_run_us = 30ll * 86400 * 1000000; /* a hive rejects results of years */

/* Locked. -1: there is none, and it cannot be created. */
static int open_balance(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A file that cannot be read counts as empty. One without the last number is from an earlier version. */
static struct dh_agent_balance read_balance(int fd)
{
    char text[LENGTH + 1] = "";
    long long n[NUMBERS] = {0};
    if (pread(fd, text, LENGTH, 0) < 0 ||
        sscanf(text, "%lld %lld %lld %lld", &n[0], &n[1], &n[2], &n[3]) < NUMBERS - 1)
        return (struct dh_agent_balance){0};
    return (struct dh_agent_balance){n[0], n[1], n[2], n[3]};
}

static bool write_balance(int fd, const struct dh_agent_balance *p)
{
    char text[LENGTH + 1];
    int n = snprintf(text, sizeof(text), "%20lld %20lld %20lld %20lld\n", (long long)p->left_us,
                     (long long)p->run_us, (long long)p->waited_us, (long long)p->ran_us);
    return n == LENGTH && pwrite(fd, text, LENGTH, 0) == LENGTH;
}

struct dh_agent_balance dh_agent_balance_take(const char *path)
{
    int fd = open_balance(path);
    if (fd < 0)
        return (struct dh_agent_balance){0};
    struct dh_agent_balance p = read_balance(fd);
    if (!write_balance(fd, &(struct dh_agent_balance){0}))
        p = (struct dh_agent_balance){0};
    close(fd);
    return p;
}

void dh_agent_balance_give(const char *path, const struct dh_agent_balance *more, u64 most_us)
{
    int fd = open_balance(path);
    if (fd < 0)
        return;
    struct dh_agent_balance p = read_balance(fd);
    p.left_us += more->left_us;
    p.left_us = p.left_us < (int64_t)most_us ? p.left_us : (int64_t)most_us;
    p.run_us += more->run_us;
    p.run_us = p.run_us < most_run_us ? p.run_us : most_run_us;
    p.waited_us += more->waited_us;
    p.ran_us += more->ran_us;
    p.ran_us = p.ran_us < DH_AGENT_BALANCE_RAN_US ? p.ran_us : DH_AGENT_BALANCE_RAN_US;
    write_balance(fd, &p); /* on failure it stays empty */
    close(fd);
}
