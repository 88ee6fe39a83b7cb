/*
 * memcached_client.c - drives a memcached over its text protocol, and checks every answer.
 *
 * usage: memcached_client PORT CONNECTIONS ROUNDS
 *
 * One thread a connection. Each sets, reads, counts up and deletes keys of its own, whose answers are
 * therefore known, and reads and appends to a few keys that all share, so that the server's threads meet in
 * the same items. Ends with the shared counter, which must be CONNECTIONS * ROUNDS, and prints one line that
 * does not depend on timing.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define KEYS 512
#define SHARED 8

struct connection {
    unsigned id;
    FILE *in;
    int fd;
    char line[8192];
};

static unsigned rounds, port;

static void fail(const struct connection *c, const char *what)
{
    fprintf(stderr, "connection %u: %s; last answer: %s\n", c->id, what, c->line);
    exit(1);
}

static void open_connection(struct connection *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        fail(c, "cannot connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    c->in = fdopen(c->fd, "r");
    if (!c->in)
        fail(c, "cannot open a stream");
}

static void send_all(struct connection *c, const char *text, size_t n)
{
    while (n) {
        ssize_t done = write(c->fd, text, n);
        if (done <= 0)
            fail(c, "cannot send");
        text += done;
        n -= (size_t)done;
    }
}

/* Next line of the answer, without its line end. */
static const char *answer(struct connection *c)
{
    if (!fgets(c->line, sizeof(c->line), c->in))
        fail(c, "the server hung up");
    c->line[strcspn(c->line, "\r\n")] = 0;
    return c->line;
}

static const char *ask(struct connection *c, const char *request)
{
    send_all(c, request, strlen(request));
    return answer(c);
}

static void expect(struct connection *c, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fail(c, want);
}

static size_t value_of(unsigned id, unsigned round, char *out)
{
    size_t n = 16 + (round * 37u + id) % 1500;

    for (size_t i = 0; i < n; i++)
        out[i] = (char)('a' + (round + i * (id + 1)) % 26);
    out[n] = 0;
    return n;
}

static void own_key(struct connection *c, unsigned round)
{
    char value[2048], request[4096], want[64];
    unsigned key = round % KEYS;
    size_t n = value_of(c->id, round, value);

    snprintf(request, sizeof(request), "set own-%u-%u 0 0 %zu\r\n%s\r\n", c->id, key, n, value);
    expect(c, ask(c, request), "STORED");
    snprintf(request, sizeof(request), "get own-%u-%u\r\n", c->id, key);
    snprintf(want, sizeof(want), "VALUE own-%u-%u 0 %zu", c->id, key, n);
    expect(c, ask(c, request), want);
    expect(c, answer(c), value);
    expect(c, answer(c), "END");
    if (round % 4 == 3) {
        snprintf(request, sizeof(request), "delete own-%u-%u\r\n", c->id, key);
        expect(c, ask(c, request), "DELETED");
    }
}

static void shared_key(struct connection *c, unsigned round)
{
    char request[256];
    unsigned key = round % SHARED;

    if (round % 16 == 5) {
        snprintf(request, sizeof(request), "set shared-%u 0 0 6\r\nshared\r\n", key);
        expect(c, ask(c, request), "STORED");
    } else if (round % 16 == 9) {
        snprintf(request, sizeof(request), "append shared-%u 0 0 1\r\n+\r\n", key);
        expect(c, ask(c, request), "STORED");
    } else {
        snprintf(request, sizeof(request), "get shared-%u\r\n", key);
        if (strncmp(ask(c, request), "VALUE shared-", 13) != 0 || strncmp(answer(c), "shared", 6) != 0)
            fail(c, "a shared key has a wrong value");
        expect(c, answer(c), "END");
    }
}

static void *body(void *arg)
{
    struct connection *c = arg;

    open_connection(c);
    for (unsigned round = 0; round < rounds; round++) {
        own_key(c, round);
        shared_key(c, round);
        ask(c, "incr counter 1\r\n");
        if (round % 256 == 255) {
            send_all(c, "stats\r\n", 7);
            while (strcmp(answer(c), "END") != 0)
                continue;
        }
    }
    fclose(c->in);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct connection connections[MAX_CONNECTIONS + 1];
    pthread_t tid[MAX_CONNECTIONS];
    unsigned n = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct connection *c = &connections[MAX_CONNECTIONS];
    char request[128];

    if (n < 1 || n > MAX_CONNECTIONS) {
        fprintf(stderr, "usage: memcached_client PORT CONNECTIONS ROUNDS\n");
        return 2;
    }
    port = (unsigned)strtoul(argv[1], NULL, 10);
    rounds = (unsigned)strtoul(argv[3], NULL, 10);
    c->id = MAX_CONNECTIONS;
    open_connection(c);
    expect(c, ask(c, "flush_all\r\n"), "OK");
    expect(c, ask(c, "set counter 0 0 1\r\n0\r\n"), "STORED");
    for (unsigned i = 0; i < SHARED; i++) {
        snprintf(request, sizeof(request), "set shared-%u 0 0 6\r\nshared\r\n", i);
        expect(c, ask(c, request), "STORED");
    }
    for (unsigned i = 0; i < n; i++) {
        connections[i].id = i;
        if (pthread_create(&tid[i], NULL, body, &connections[i]))
            fail(c, "cannot create a thread");
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(tid[i], NULL);
    ask(c, "get counter\r\n");
    if (strtoul(answer(c), NULL, 10) != (unsigned long)n * rounds)
        fail(c, "the counter is wrong");
    printf("%u connections, %u rounds, counter %s\n", n, rounds, c->line);
    return 0;
}
