// What is done after connecting, or after the last byte was sent, is not known at the other end of a
// connection.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

static struct sockaddr_in address;
static int listening;
int connected, sent, behind;

THREAD(client)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    MUST(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    connected = 1; // RACE a:write
    mark();
    after(2);
    sent = 1;
    MUST(send(fd, "!", 1, 0) == 1);
    behind = 1; // RACE b:write
    mark();
    after(4);
    close(fd);
    return NULL;
}

THREAD(server)
{
    int fd;
    char c;

    after(1);
    MUST((fd = accept(listening, NULL, NULL)) >= 0);
    connected = 2; // RACE a:write
    mark();
    after(3);
    MUST(recv(fd, &c, 1, 0) == 1 && sent++ == 1);
    behind = 2; // RACE b:write
    mark();
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
