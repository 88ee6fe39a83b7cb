// What is done after a message was sent is not ordered by it; and the buffers count.
// TSAN: it does not know message queues
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

#include "invisible.h"

static mqd_t queue;
int x;
char text[8];

THREAD(sender)
{
    text[1] = 'a'; // RACE b:write
    mark();        // the message that arrives is not this thread's
    after(2);
    MUST(mq_send(queue, "12345678", 8, 0) == 0);
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(receiver)
{
    char own[8];

    after(1);
    MUST(mq_receive(queue, text, sizeof text, NULL) == 2); // RACE b:write
    mark();
    MUST(mq_receive(queue, own, sizeof own, NULL) == 8);
    after(3);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = sizeof text};
    char name[64];

    snprintf(name, sizeof name, "/deadheat-test-%ld", (long)getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attr);
    MUST(queue >= 0 && mq_unlink(name) == 0);
    MUST(mq_send(queue, "!!", 2, 0) == 0);
    both(sender, receiver);
    return 0;
}
