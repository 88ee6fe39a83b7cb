/*
 * gather.c - see gather.h.
 *
 * The address is the random part of the name of an abstract socket: it needs no file that could be left
 * behind, nor one that a chroot hides. Anybody could bind a name that has become free, so the peer is trusted
 * only if it runs as this user, or as root.
 *
 * The address outlives its socket: a daemon keeps it in its environment after the command has ended. Then
 * connecting fails, and the process reports for itself.
 */
#include "runtime/report/gather.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/sys.h"

enum { ADDRESS_DIGITS = 32 };

static struct sockaddr_un name; /* written at the start */
static socklen_t name_len;      /* 0: no gatherer */

void dh_gather_init(const char *address)
{
    static const char prefix[] = "deadheat-"; /* src/cli/run_gather.c */
    name_len = 0;
    if (!address || strlen(address) != ADDRESS_DIGITS ||
        strspn(address, "0123456789abcdef") != ADDRESS_DIGITS)
        return;
    _Static_assert(1 + sizeof(prefix) + ADDRESS_DIGITS <= sizeof(name.sun_path), "the name fits");
    name.sun_family = AF_UNIX;
    strcpy(name.sun_path + 1, prefix);
    strcat(name.sun_path + 1, address);
    name_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) + ADDRESS_DIGITS);
}

bool dh_gather_is_named(void)
{
    return name_len > 0;
}

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    if (dh_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&n, 0) < 0)
        return false;
    return peer.uid == 0 || peer.uid == (uid_t)dh_sys3(SYS_geteuid, 0, 0, 0);
}

int dh_gather_connect(void)
{
    if (!name_len)
        return -1;
    int fd = (int)dh_sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    long rc;
    do
        rc = dh_sys3(SYS_connect, fd, (long)&name, name_len);
    while (rc == -EINTR);
    if (rc == 0 && is_trusted(fd))
        return fd;
    dh_sys3(SYS_close, fd, 0, 0);
    return -1;
}

void dh_gather_announce(const char *line, size_t n)
{
    int fd = dh_gather_connect();
    if (fd < 0)
        return;
    dh_sys6(SYS_sendto, fd, (long)line, (long)n, MSG_NOSIGNAL, 0, 0);
    dh_sys3(SYS_close, fd, 0, 0);
}
