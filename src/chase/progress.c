/*
 * progress.c - see progress.h. A running thread makes progress, whatever it does: one that spins for ever
 * cannot be distinguished from one that works. A thread stopped by a debugger is not stalled either.
 */
#include "chase/progress.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct look {
    bool alive, awake;
    u64 switches;
};

static u64 number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void look_at(pid_t pid, u32 tid, struct look *l)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, tid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = 0;
    const char *state = strstr(text, "\nState:\t");
    char letter = state ? state[8] : 'X';
    if (letter == 'X' || letter == 'Z')
        return;
    l->alive = true;
    l->awake |= letter != 'S' && letter != 'D';
    l->switches += number_behind(text, "\nvoluntary_ctxt_switches:") +
                   number_behind(text, "\nnonvoluntary_ctxt_switches:");
}

static void look_at_all(pid_t pid, struct look *l)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            look_at(pid, (u32)strtoul(e->d_name, NULL, 10), l);
    if (dir)
        closedir(dir);
}

bool dh_chase_progress_is_stalled(struct dh_chase_progress *p, u64 now_us, u64 limit_us)
{
    struct look l = {0};
    for (int i = 0; i < 2 && p->tids[0]; i++)
        look_at(p->pid, p->tids[i], &l);
    if (!l.alive) /* others may wait for what they have done */
        look_at_all(p->pid, &l);
    if (p->since_us == 0 || l.awake || l.switches != p->switches)
        p->since_us = now_us;
    p->switches = l.switches;
    return l.alive && now_us - p->since_us >= limit_us;
}
