// Pointers through a pipe and a socket.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int fd[2], sp[2];

struct job {
    int v;
};

struct msg {
    int kind;
    struct job *j;
};

static void *f(void *p)
{
    struct job *j;
    if (read(fd[0], &j, sizeof j) == sizeof j)
        j->v = 2; // RACE a
    struct msg m;
    if (recv(sp[1], &m, sizeof m, 0) == sizeof m)
        m.j->v = 5; // RACE b
    return p;
}

int main(void)
{
    if (pipe(fd) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sp))
        return 1;
    struct job *j = calloc(1, sizeof *j), *k = calloc(1, sizeof *k);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    if (write(fd[1], &j, sizeof j) != sizeof j)
        return 1;
    j->v = 3; // RACE a
    struct msg m = {1, k};
    if (send(sp[0], &m, sizeof m, 0) < 0)
        return 1;
    k->v = 3; // RACE b
    pthread_join(t, 0);
    return 0;
}
