/*
 * dns_client.c - asks a name server on this machine for addresses, and checks every answer.
 *
 * usage: dns_client PORT NAMES THREADS QUERIES
 *
 * hN.bench.test, N below NAMES, must have the address 10.x.y.z that is N in three bytes. Each thread has a
 * socket of its own with some queries under way; one that gets no answer in time is asked again. Prints one
 * line, which does not depend on timing.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define WINDOW 16
#define PATIENCE 2 /* seconds */
#define RETRIES 20

struct asker {
    pthread_t tid;
    unsigned id;
    int fd;
    uint64_t state;
    uint32_t asked[WINDOW]; /* which name is under way; the query's id is the slot */
    uint64_t sum;
};

static unsigned port, names, queries;

static void fail(const char *what)
{
    fprintf(stderr, "dns_client: %s\n", what);
    exit(1);
}

static uint32_t draw(struct asker *a)
{
    a->state = a->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(a->state >> 33) % names;
}

static void ask(struct asker *a, unsigned slot)
{
    unsigned char packet[64] = {0, (unsigned char)slot, 1, 0, 0, 1}; /* recursion desired; one question */
    size_t n = 12;
    int length = snprintf((char *)packet + n + 1, 16, "h%u", (unsigned)a->asked[slot]);

    packet[n] = (unsigned char)length;
    n += 1 + (size_t)length;
    /* The rest of the name, then type A, class IN. */
    static const unsigned char rest[] = "\5bench\4test\0\0\1\0\1";
    memcpy(packet + n, rest, sizeof(rest) - 1);
    n += sizeof(rest) - 1;
    if (send(a->fd, packet, n, 0) != (ssize_t)n)
        fail("cannot send");
}

/* The slot that was answered, or -1 if nothing came for a while. */
static int answered(struct asker *a)
{
    unsigned char p[1500];

    for (;;) {
        ssize_t n = recv(a->fd, p, sizeof(p), 0);
        if (n < 0)
            return -1;
        uint32_t name = p[1] < WINDOW ? a->asked[p[1]] : UINT32_MAX;
        if (n < 12 || p[0] || name == UINT32_MAX)
            continue; /* late, and already asked again and answered */
        if (p[3] & 15)
            fail("an answer is an error");
        /* There may be more records behind: the first answer follows the question, its data ten bytes after
         * the name, which is a pointer. */
        size_t at = 12;
        while (at < (size_t)n && p[at])
            at += p[at] + 1u;
        at += 5 + 2 + 10;
        if (at + 4 > (size_t)n || !p[7])
            fail("an answer is too short");
        uint32_t got = (uint32_t)p[at + 1] << 16 | (uint32_t)p[at + 2] << 8 | p[at + 3];
        if (p[at] == 10 && got == name)
            return p[1];
    }
}

static void *body(void *arg)
{
    struct asker *a = arg;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = PATIENCE};
    unsigned sent = 0, done = 0, silent = 0;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a->fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (a->fd < 0 || connect(a->fd, (struct sockaddr *)&to, sizeof(to)))
        fail("cannot connect");
    setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    for (unsigned i = 0; i < WINDOW; i++)
        a->asked[i] = UINT32_MAX;
    for (; sent < WINDOW && sent < queries; sent++) {
        a->asked[sent] = draw(a);
        ask(a, sent);
    }
    while (done < queries) {
        int slot = answered(a);
        if (slot < 0) {
            if (++silent > RETRIES)
                fail("no answers");
            for (unsigned i = 0; i < WINDOW; i++)
                if (a->asked[i] != UINT32_MAX)
                    ask(a, i);
            continue;
        }
        silent = 0;
        done++;
        a->sum += a->asked[slot];
        a->asked[slot] = UINT32_MAX;
        if (sent < queries) {
            sent++;
            a->asked[slot] = draw(a);
            ask(a, (unsigned)slot);
        }
    }
    close(a->fd);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct asker askers[MAX_THREADS];
    unsigned n[4] = {0};
    uint64_t sum = 0;

    for (int i = 1; i < argc && i < 5; i++)
        n[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
    if (argc != 5 || !n[0] || !n[1] || !n[2] || n[2] > MAX_THREADS || !n[3]) {
        fprintf(stderr, "usage: dns_client PORT NAMES THREADS QUERIES\n");
        return 2;
    }
    port = n[0];
    names = n[1];
    queries = n[3];
    for (unsigned i = 0; i < n[2]; i++) {
        askers[i].id = i;
        askers[i].state = i;
        if (pthread_create(&askers[i].tid, NULL, body, &askers[i]))
            fail("cannot create a thread");
    }
    for (unsigned i = 0; i < n[2]; i++) {
        pthread_join(askers[i].tid, NULL);
        sum += askers[i].sum;
    }
    printf("%u answers, sum %llu\n", n[2] * queries, (unsigned long long)sum);
    return 0;
}
