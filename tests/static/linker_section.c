// A table that the linker makes: variables of one section, walked over from its beginning to its end.
#include <pthread.h>

struct command {
    void (*run)(void);
    int uses;
};
static int total, other;

static void add(void)
{
    total++; // PAIR a b
}

static void drop(void)
{
    total--; // PAIR b c
}

static void stranger(void)
{
    other++; // NO PAIR
}

static struct command first __attribute__((used, section("commands"))) = {add, 0};
static struct command second __attribute__((used, section("commands"))) = {drop, 0};
static struct command third __attribute__((used, section("elsewhere"))) = {stranger, 0};
extern struct command __start_commands[], __stop_commands[];

static void *thread(void *arg)
{
    for (struct command *c = __start_commands; c < __stop_commands; c++) {
        c->run();
        c->uses++; // PAIR d
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
