// Operations in a structure: each field holds its own.
#include <pthread.h>

int reads, writes;

static void count_read(void)
{
    reads++; // PAIR a
}

static void count_write(void)
{
    writes++; // NO PAIR
}

struct operations {
    void (*read)(void);
    void (*write)(void);
};

static void *thread(void *arg)
{
    const struct operations *o = arg;
    o->read(); // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct operations o;
    o.read = count_read;
    o.write = count_write;
    pthread_create(&t, NULL, thread, &o);
    reads++; // PAIR a
    o.write();
    pthread_join(t, NULL);
    return 0;
}
