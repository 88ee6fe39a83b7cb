// A message through a queue of System V orders the receiver after the sender.
// NO RACE
// TSAN: it does not know these queues
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "invisible.h"

static struct message {
    long type;
    char text[8];
} shared;
static int queue, x;

THREAD(sender)
{
    x = 1;
    shared.type = 7;
    strcpy(shared.text, "first");
    MUST(msgsnd(queue, &shared, sizeof shared.text, 0) == 0);
    return NULL;
}

THREAD(receiver)
{
    MUST(msgrcv(queue, &shared, sizeof shared.text, 7, 0) == sizeof shared.text);
    MUST(x == 1 && strcmp(shared.text, "first") == 0);
    x = 2;
    return NULL;
}

int main(void)
{
    struct msqid_ds info;

    queue = msgget(IPC_PRIVATE, 0600);
    MUST(queue >= 0);
    both(sender, receiver);
    MUST(msgctl(queue, IPC_STAT, &info) == 0 && info.msg_qnum == 0);
    return msgctl(queue, IPC_RMID, NULL);
}
