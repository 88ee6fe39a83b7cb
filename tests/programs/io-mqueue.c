// A message through a queue orders the receiver after the sender, whichever descriptor each opened it by.
// NO RACE
// TSAN: it does not know message queues
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "invisible.h"

static mqd_t in, out;
int x, y;
char text[8];

THREAD(sender)
{
    x = 1;
    strcpy(text, "first");
    MUST(mq_send(out, text, sizeof text, 0) == 0);
    y = 1;
    MUST(mq_timedsend(out, "second", 7, 0, &(struct timespec){time(NULL) + 20, 0}) == 0);
    return NULL;
}

THREAD(receiver)
{
    unsigned priority;

    MUST(mq_receive(in, text, sizeof text, &priority) == sizeof text);
    MUST(x == 1);
    x = 2;
    MUST(mq_timedreceive(in, text, sizeof text, NULL, &(struct timespec){time(NULL) + 20, 0}) == 7);
    y = 2;
    return NULL;
}

int main(void)
{
    struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = sizeof text};
    char name[64];

    snprintf(name, sizeof name, "/deadheat-test-%ld", (long)getpid());
    in = mq_open(name, O_CREAT | O_EXCL | O_RDONLY, 0600, &attr);
    out = mq_open(name, O_WRONLY);
    MUST(in >= 0 && out >= 0 && mq_unlink(name) == 0);
    both(sender, receiver);
    return mq_close(in) | mq_close(out);
}
