// What is done after a message was sent is not ordered by it; and the buffers count, with the message's type.
// TSAN: it does not know these queues
#include <sys/ipc.h>
#include <sys/msg.h>

#include "invisible.h"

struct message {
    long type;
    char text[8];
};
static struct message in, out = {1, "12345678"}, early = {1, "!!"};
static int queue;
int x;

THREAD(sender)
{
    in.type = 0;    // RACE a:write
    in.text[1] = 0; // RACE b:write
    in.text[2] = 0; /* beyond what arrives */
    mark();         // the message that arrives is not this thread's
    after(2);
    MUST(msgsnd(queue, &out, sizeof out.text, 0) == 0); // RACE c:read
    x = 1;                                              // RACE d:write
    mark();
    return NULL;
}

THREAD(receiver)
{
    struct message own;

    after(1);
    MUST(msgrcv(queue, &in, sizeof in.text, 0, 0) == 2); // RACE a:write b:write
    mark();
    after(3);
    out.text[7] = 0; // RACE c:write
    MUST(msgrcv(queue, &own, sizeof own.text, 0, 0) == 8);
    x = 2; // RACE d:write
    return NULL;
}

int main(void)
{
    queue = msgget(IPC_PRIVATE, 0600);
    MUST(queue >= 0 && msgsnd(queue, &early, 2, 0) == 0);
    both(sender, receiver);
    return msgctl(queue, IPC_RMID, NULL);
}
