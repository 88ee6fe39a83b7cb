// A TCP connection inside one process: what was done before connecting is known to who accepts, what was sent
// to who receives, and the end of the stream to who reads it.
// NO RACE
// TSAN: it does not order the end of a stream
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

static struct sockaddr_in address;
static int listening, before_connect, sent, before_end;

THREAD(client)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char answer;

    before_connect = 1;
    MUST(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    sent = 1;
    MUST(send(fd, "?", 1, 0) == 1);
    MUST(recv(fd, &answer, 1, 0) == 1 && answer == '!');
    MUST(sent++ == 2);
    before_end = 1;
    MUST(shutdown(fd, SHUT_WR) == 0);
    MUST(read(fd, &answer, 1) == 0);
    MUST(before_end == 2);
    close(fd);
    return NULL;
}

THREAD(server)
{
    struct sockaddr_in peer;
    socklen_t n = sizeof peer;
    int fd = accept(listening, (struct sockaddr *)&peer, &n);
    char question;

    MUST(fd >= 0 && before_connect++ == 1);
    MUST(read(fd, &question, 1) == 1 && question == '?');
    MUST(sent++ == 1);
    MUST(write(fd, "!", 1) == 1);
    MUST(recv(fd, &question, 1, 0) == 0);
    MUST(before_end++ == 1);
    close(fd);
    return NULL;
}

int main(void)
{
    socklen_t n = sizeof address;

    listening = socket(AF_INET, SOCK_STREAM, 0);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    MUST(bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && listen(listening, 1) == 0);
    MUST(getsockname(listening, (struct sockaddr *)&address, &n) == 0);
    both(client, server);
    return 0;
}
