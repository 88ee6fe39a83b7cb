/*
 * fd.h - which descriptors carry data from one thread to another, and the edges they create.
 *
 * What is written to a pipe, socket or eventfd happens before the read that may see it. Each descriptor
 * has at most one synchronisation address: the writer releases it before the real call, the
 * reader acquires it after. docs/design/io.md says which descriptors share one.
 */
#ifndef DH_RUNTIME_THREADS_FD_H
#define DH_RUNTIME_THREADS_FD_H

#include "runtime/runtime.h"

struct sockaddr;

/* Before a write, and after a read that got something (the end of the stream counts: the writer closed). */
void dh_fd_release(struct dh_thread *t, int fd);
void dh_fd_acquire(struct dh_thread *t, int fd);
/* Already known to create no edges (a file, a terminal). Cheap, and needs no thread: for functions called for
 * every character. */
bool dh_fd_is_plain(int fd);

/* A descriptor not known yet: it is classified at its first use. Also for descriptors that were closed behind
 * our back. */
void dh_fd_unknown(int fd);
/* One object for the two ends of a connection; for a single descriptor give it twice. */
void dh_fd_pair(int a, int b);
/* A message queue: it looks like a file. */
void dh_fd_queue(int fd);
/* A signalfd for the signals in set, in the kernel's format: one bit per signal, from 1. */
void dh_fd_signals(int fd, u64 set);
void dh_fd_dup(int from, int to);
/* Before the real close: a thread that reads the end of the stream is ordered after it. */
void dh_fd_close(struct dh_thread *t, int fd);
void dh_fd_close_range(struct dh_thread *t, unsigned lo, unsigned hi); /* both included */

/* Before the real connect, and after it; addr is the destination. */
void dh_fd_connecting(struct dh_thread *t, const struct sockaddr *addr);
void dh_fd_connected(int fd, const struct sockaddr *addr);
/* A connection taken from a listening socket. */
void dh_fd_accepted(struct dh_thread *t, int fd);

#endif
