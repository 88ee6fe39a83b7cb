// Input into several buffers, which are found through one or two pointers.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

char first[8], second[8], third[8];
int fd;

static void *thread(void *arg)
{
    struct iovec two[2] = {{first, 8}, {second, 8}}, one = {third, 8};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    readv(fd, two, 2);        // PAIR a b c
    recvmsg(fd, &message, 0); // PAIR d e
    return arg;
}

static void *other(void *arg)
{
    first[0] = 1;  // PAIR b
    second[0] = 1; // PAIR c
    third[0] = 1;  // PAIR e
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_create(&c, NULL, other, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pthread_join(c, NULL);
}
