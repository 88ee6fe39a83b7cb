/*
 * fd.c - see fd.h.
 *
 * A table from descriptor to synchronisation address. An entry is one word, read and written atomically; no
 * lock. A thread that uses a descriptor while another closes or reuses it may take the old address: then
 * there is an edge too many or too few for a call whose outcome is undefined anyway.
 *
 * Addresses are only names to dh_sync_*; all of ours lie above every address of the process. Pipes, socket
 * pairs, eventfds and epoll instances whose creation we saw have a reference-counted object, whose clocks are
 * freed with the last descriptor. The others are named by what both ends can find out by themselves; there
 * are so few of these names that they need never be freed.
 */
#include "runtime/threads/fd.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/signal.h"

/* Kinds of names, in bits 56-63; the identity within the kind is in bits 8-55, so that each has its own block
 * of 256 addresses, the granularity of the table of synchronisation objects. */
enum {
    NAME_NONE = 0xC0,    /* no edges */
    NAME_SOCKETS = 0xC1, /* all sockets that have no better name */
    NAME_TCP = 0xC2,     /* a connection, by its two ports */
    NAME_PORT = 0xC3,    /* connecting to a port, by the port */
    NAME_FIFO = 0xC4,    /* or queue, by device and inode, hashed to 48 bits: a collision adds an edge */
    NAME_OBJECT = 0xC5,  /* counted: index into objects */
    NAME_SIGNALS = 0xC6, /* a signalfd: the set of its signals, 48 apart counting as one */
};
#define NAME(kind, what) ((u64)(kind) << 56 | ((u64)(what) << 8 & ((1ull << 56) - 1)))
#define NAME_KIND(name) ((name) >> 56)

enum {
    SIGNALS = 64,
    SIGNALS_NAMED = 48
}; /* how many there are; how many bits a name has for them: signals 48 apart share one */

/* How many descriptors refer to each object; 0: free. When all are taken, a new pipe is named like a FIFO. */
enum { OBJECTS = 1 << 16 };
static u32 objects[OBJECTS];
static u32 objects_hint; /* where to look next */

/* Descriptor to name; 0: not known yet. Chunks are set once. Descriptors beyond a million have no edges. */
enum { CHUNK = 1024, CHUNKS = 1024 };
static u64 *chunks[CHUNKS];

static u64 *entry_of(int fd)
{
    if (fd < 0 || fd >= CHUNK * CHUNKS)
        return NULL;
    u64 **chunk = &chunks[fd / CHUNK];
    u64 *entries = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
    if (DH_UNLIKELY(entries == NULL)) {
        u64 *fresh = dh_pool_alloc(CHUNK * sizeof *fresh);
        if (fresh == NULL) {
            dh_runtime_count(DH_COUNT_LOST_MEMORY);
            return NULL;
        }
        if (__atomic_compare_exchange_n(chunk, &entries, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            entries = fresh;
        else
            dh_pool_free(fresh, CHUNK * sizeof *fresh);
    }
    return &entries[fd % CHUNK];
}

static u64 entry_get(int fd)
{
    const u64 *e = entry_of(fd);
    return e != NULL ? __atomic_load_n(e, __ATOMIC_ACQUIRE) : NAME(NAME_NONE, 0);
}

static u32 object_index(u64 name)
{
    return (u32)(name >> 8) & (OBJECTS - 1);
}

static void object_drop(u64 name)
{
    if (__atomic_sub_fetch(&objects[object_index(name)], 1, __ATOMIC_ACQ_REL) == 0)
        dh_sink_forget((void *)name, 1);
}

/* False if its last descriptor was closed meanwhile. */
static bool object_take(u64 name)
{
    u32 *refs = &objects[object_index(name)];
    u32 n = __atomic_load_n(refs, __ATOMIC_RELAXED);
    while (n != 0)
        if (__atomic_compare_exchange_n(refs, &n, n + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* A fresh object that counts `refs`; 0 when all are taken. */
static u64 object_new(u32 refs)
{
    u32 start = __atomic_load_n(&objects_hint, __ATOMIC_RELAXED);
    for (u32 k = 0; k < OBJECTS; k++) {
        u32 i = (start + k) & (OBJECTS - 1), free = 0;
        if (__atomic_compare_exchange_n(&objects[i], &free, refs, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&objects_hint, i + 1, __ATOMIC_RELAXED);
            return NAME(NAME_OBJECT, i);
        }
    }
    return 0;
}

/* Store `name`, whose count already includes this descriptor, and release what was there. */
static void entry_set(int fd, u64 name)
{
    u64 *e = entry_of(fd);
    u64 old = e != NULL ? __atomic_exchange_n(e, name, __ATOMIC_ACQ_REL) : name;
    if (NAME_KIND(old) == NAME_OBJECT)
        object_drop(old);
}

/* ---- Names for what we did not see created ---------------------------------------------------- */

static u32 port_of(const void *addr)
{
    const struct sockaddr *a = addr;
    if (a->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)addr)->sin_port);
    if (a->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
    return 0;
}

static u32 socket_port(int fd, long which)
{
    struct sockaddr_storage a = {0};
    u32 n = sizeof a;
    return dh_sys3(which, fd, (long)&a, (long)&n) == 0 ? port_of(&a) : 0;
}

/* The two ends of a TCP connection know the same two ports. Hosts are left out: one end may see an IPv4
 * address and the other the same address mapped to IPv6. */
static u64 socket_name(int fd, u32 peer)
{
    int type = 0;
    u32 n = sizeof type;
    dh_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&n, 0);
    u32 local = socket_port(fd, SYS_getsockname);
    if (type != SOCK_STREAM || local == 0 || peer == 0)
        return NAME(NAME_SOCKETS, 0);
    return NAME(NAME_TCP, local < peer ? (u64)local << 16 | peer : (u64)peer << 16 | local);
}

static u64 port_name(u32 port)
{
    return port != 0 ? NAME(NAME_PORT, port) : NAME(NAME_SOCKETS, 0);
}

static u64 inode_name(const struct stat *st)
{
    return NAME(NAME_FIFO, dh_hash64(st->st_ino + dh_hash64(st->st_dev)) >> 16);
}

/* The other end of an inherited standard stream is another process, and a program that prints a lot should
 * not pay for edges that lead nowhere. */
static u64 classify(int fd)
{
    struct stat st;
    if (fd <= 2)
        return NAME(NAME_NONE, 0);
    if (dh_sys3(SYS_fstat, fd, (long)&st, 0) != 0)
        return 0;
    if (S_ISFIFO(st.st_mode))
        return inode_name(&st);
    if (S_ISSOCK(st.st_mode))
        return socket_name(fd, socket_port(fd, SYS_getpeername));
    return NAME(NAME_NONE, 0);
}

/* ---- Edges ------------------------------------------------------------------------------------ */

/* NULL: none. */
static const void *address_of(int fd)
{
    if (!dh_opts.io_sync)
        return NULL;
    u64 name = entry_get(fd);
    if (name == 0) {
        u64 found = classify(fd);
        if (found != 0 && __atomic_compare_exchange_n(entry_of(fd), &name, found, false, __ATOMIC_ACQ_REL,
                                                      __ATOMIC_ACQUIRE))
            name = found;
    }
    return name != 0 && NAME_KIND(name) != NAME_NONE && NAME_KIND(name) != NAME_SIGNALS ? (const void *)name
                                                                                        : NULL;
}

void dh_fd_release(struct dh_thread *t, int fd)
{
    const void *a = address_of(fd);
    if (a != NULL)
        dh_order_release(t, a);
}

/* Something was read from a signalfd, or can be. */
static void fetch_signals(struct dh_thread *t, u64 name)
{
    for (int sig = 1; sig <= SIGNALS; sig++)
        if (name >> (8 + (sig - 1) % SIGNALS_NAMED) & 1)
            dh_signal_fetched(t, sig);
}

void dh_fd_acquire(struct dh_thread *t, int fd)
{
    const void *a = address_of(fd);
    if (a != NULL)
        dh_order_acquire(t, a);
    else if (NAME_KIND(entry_get(fd)) == NAME_SIGNALS && dh_opts.io_sync)
        fetch_signals(t, entry_get(fd));
}

bool dh_fd_is_plain(int fd)
{
    const u64 *entries =
        fd >= 0 && fd < CHUNK * CHUNKS ? __atomic_load_n(&chunks[fd / CHUNK], __ATOMIC_ACQUIRE) : NULL;
    return entries != NULL && NAME_KIND(__atomic_load_n(&entries[fd % CHUNK], __ATOMIC_RELAXED)) == NAME_NONE;
}

/* ---- Life of a descriptor --------------------------------------------------------------------- */

/* The descriptor number itself: the kernel reuses it only after a close, so programs that keep a table by
 * descriptor (memcached's connections) are ordered by it. */
static const void *number_address(int fd)
{
    const char *e = (const char *)entry_of(fd);
    return e != NULL && dh_opts.io_sync ? e + 1 : NULL;
}

static void number_given_out(int fd)
{
    const void *a = number_address(fd);
    if (a != NULL && __dh_hot.self != NULL)
        dh_order_acquire(__dh_hot.self, a);
}

void dh_fd_unknown(int fd)
{
    number_given_out(fd);
    if (entry_get(fd) != 0)
        entry_set(fd, 0);
}

void dh_fd_pair(int a, int b)
{
    u64 name = object_new(a == b ? 1 : 2);
    number_given_out(a);
    entry_set(a, name);
    if (a != b) {
        number_given_out(b);
        entry_set(b, name);
    }
}

void dh_fd_queue(int fd)
{
    struct stat st;
    number_given_out(fd);
    entry_set(fd, dh_sys3(SYS_fstat, fd, (long)&st, 0) == 0 ? inode_name(&st) : 0);
}

void dh_fd_signals(int fd, u64 set)
{
    number_given_out(fd);
    entry_set(fd, NAME(NAME_SIGNALS, set | set >> SIGNALS_NAMED));
}

void dh_fd_dup(int from, int to)
{
    if (from == to)
        return;
    u64 name = entry_get(from);
    if (NAME_KIND(name) == NAME_OBJECT && !object_take(name))
        name = 0;
    number_given_out(to);
    entry_set(to, name);
}

void dh_fd_close(struct dh_thread *t, int fd)
{
    const void *number = number_address(fd);
    if (number != NULL)
        dh_order_release_store(t, number);
    if (entry_get(fd) == 0) /* most are files that were never asked about: not worth a system call now */
        return;
    dh_fd_release(t, fd);
    entry_set(fd, 0);
}

void dh_fd_close_range(struct dh_thread *t, unsigned lo, unsigned hi)
{
    for (unsigned fd = lo; fd <= hi && fd < CHUNK * CHUNKS; fd++) {
        if (__atomic_load_n(&chunks[fd / CHUNK], __ATOMIC_ACQUIRE) == NULL)
            fd |= CHUNK - 1; /* nothing is known about this chunk */
        else
            dh_fd_close(t, (int)fd);
    }
}

void dh_fd_connecting(struct dh_thread *t, const struct sockaddr *addr)
{
    if (dh_opts.io_sync)
        dh_order_release(t, (void *)port_name(port_of(addr)));
}

void dh_fd_connected(int fd, const struct sockaddr *addr)
{
    entry_set(fd, socket_name(fd, port_of(addr)));
}

void dh_fd_accepted(struct dh_thread *t, int fd)
{
    number_given_out(fd);
    entry_set(fd, socket_name(fd, socket_port(fd, SYS_getpeername)));
    if (dh_opts.io_sync)
        dh_order_acquire(t, (void *)port_name(socket_port(fd, SYS_getsockname)));
}
