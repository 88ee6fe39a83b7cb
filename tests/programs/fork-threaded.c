// fork in a threaded program: the child has one thread, starts others, and ends with its own status.
// TSAN: it forbids threads in the child of a threaded program
// NO RACE
// OUTPUT: child done
// OUTPUT: parent done
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long count;

THREAD(bystander)
{
    mark();
    after(2);
    return NULL;
}

THREAD(worker)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(bystander, NULL);
    int status;
    pid_t pid;

    after(1);
    count = 1;
    pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        MUST(count == 1);
        both(worker, worker);
        MUST(count == 101);
        puts("child done");
        exit(5);
    }
    MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    mark();
    both(worker, worker);
    join(t);
    puts("parent done");
    return 0;
}
