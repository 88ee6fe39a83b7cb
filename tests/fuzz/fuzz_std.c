/*
 * fuzz_std.c - any bytes as a trace in STD format. What can be read must go through every streaming detector, and reading back what
 * the writer makes of it must give the same events.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "detect/host.h"
#include "event/std.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

enum { MAX_EVENTS = 512 };

static long read_bytes(struct dh_std *s, const void *data, size_t size, struct dh_event *events)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0 ||
        dh_std_init(s, fd) != 0)
        abort();
    long n, total = 0;
    while ((n = dh_std_read(s, events + total, MAX_EVENTS - (size_t)total)) > 0)
        total += n;
    close(fd);
    if (n < 0 && !s->error[0])
        abort(); /* an error must say what it is */
    return n < 0 ? n : total;
}

static void read_back(struct dh_std *s, const struct dh_event *events, long n)
{
    static char text[MAX_EVENTS * 2048];
    static struct dh_event again[MAX_EVENTS];
    struct dh_std second;
    size_t at = 0;
    for (long i = 0; i < n; i++) {
        const struct dh_event *e = &events[i];
        enum dh_space space = dh_event_space(e->op);
        const struct dh_names *names = space == DH_SPACE_LOCK     ? &s->locks
                                       : space == DH_SPACE_THREAD ? &s->threads
                                                                  : &s->variables;
        long len = dh_std_format(e, dh_names_get(&s->threads, e->thread), dh_names_get(names, e->target),
                                 text + at, sizeof(text) - at);
        if (len <= 0)
            abort();
        at += (size_t)len;
    }
    if (read_bytes(&second, text, at, again) != n || memcmp(events, again, (size_t)n * sizeof(*events)) != 0)
        abort();
    dh_std_done(&second);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static struct dh_event events[MAX_EVENTS];
    struct dh_std s;
    long n = read_bytes(&s, data, size, events);
    if (n > 0) {
        struct dh_host *h = dh_host_new(NULL, NULL);
        read_back(&s, events, n);
        for (u32 i = 0; h && i < dh_n_detectors; i++) {
            if (!dh_detectors[i]->whole_trace && dh_host_add(h, dh_detectors[i]) != 0)
                abort();
        }
        if (!h || dh_host_feed(h, events, (size_t)n) != 0)
            abort();
        dh_host_finish(h);
        dh_host_free(h);
    }
    dh_std_done(&s);
    return 0;
}
