/*
 * forge.c PROGRAM POSITION - an agent that asks a program for what is not in its table, by the program's own protocol: a thread
 * is to be stopped at a position in the function plain, which was compiled without deadheat. Prints how often the program has refused
 * that, and whether a thread was stopped all the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chase/chase.h"
#include "chase/sites.h"

static pid_t start(const char *program, int socket, int input)
{
    pid_t pid = fork();
    if (pid == 0) {
        char number[16];
        snprintf(number, sizeof(number), "%d%c", socket, DH_CONTROL_AGENT);
        setenv(DH_CONTROL_ENV, number, 1);
        dup2(input, 0);
        fcntl(socket, F_SETFD, 0);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    return pid;
}

int main(int argc, char **argv)
{
    static struct dh_chase_sites sites;
    static struct dh_chase_target t;
    static bool wanted[DH_CONTROL_SITES];
    struct dh_arena arena = {0};
    struct dh_chase_module module = {.path = argc > 1 ? argv[1] : ""};
    struct dh_chase_position at;
    struct dh_chase_found found;
    const char *why = "";
    char *real = realpath(module.path, NULL);
    int ends[2], input[2], status = 0;
    module.path = real ? real : module.path;
    if (dh_chase_lines_open(&arena, module.path, &module.file, &why) != 0 ||
        dh_chase_position_one(&arena, argc > 2 ? argv[2] : "", &at, &why) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(input, O_CLOEXEC) != 0 ||
        dh_chase_target_init(&t, &arena, 60000000) != 0) {
        printf("cannot begin: %s\n", why);
        return 1;
    }
    at.all = true;
    dh_chase_sites_look(&module, 1, &at, &found);
    dh_chase_sites_add(&sites, &module, 1, at.kinds, &found, DH_CONTROL_FIRST);
    t.control->begin_us = 60000000;
    t.control->beat_us = dh_chase_now_us();
    t.control->patience_us = 60000000;
    pid_t pid = start(argv[1], ends[1], input[0]);
    close(ends[1]);
    close(input[0]);
    dh_chase_target_announce(ends[0], true);
    if (!sites.n || dh_chase_target_meet(&t, ends[0], pid, &why) != 0 ||
        dh_chase_target_place(&t, &sites, &why) != 0) {
        printf("cannot forge: %zu sites; %s\n", sites.n, why);
        return 1;
    }
    for (size_t i = 0; i < t.control->n_sites; i++)
        wanted[i] = true;
    dh_chase_target_arm(&t, wanted);
    dh_chase_target_restart(&t, DH_CONTROL_OPEN);
    dh_chase_target_let_go(ends[0]);
    close(ends[0]);
    if (write(input[1], "plain\nend\n", 10) != 10)
        return 1;
    waitpid(pid, &status, 0);
    printf("exit %d, %s, %s\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           t.control->refused >= 1000 ? "refused" : "not refused",
           t.control->first.tid ? "a thread was stopped" : "no thread was stopped");
    return 0;
}
