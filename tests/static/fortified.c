// FLAGS -O1
// What the C library's headers call instead when lengths are checked (-D_FORTIFY_SOURCE) does the same.
#include <pthread.h>
#include <stddef.h>

extern void *__mempcpy_chk(void *, const void *, size_t, size_t);
extern long __read_chk(int, void *, size_t, size_t);
extern size_t __fread_chk(void *, size_t, size_t, size_t, void *);
extern char *__fgets_chk(char *, size_t, int, void *);
extern size_t length;
extern void *file;
static char from[64], to[64], in[64], bytes[64], line[64];

static void *thread(void *arg)
{
    __mempcpy_chk(to, from, length, sizeof to);        // PAIR a
    __read_chk(0, in, length, sizeof in);              // PAIR b
    __fread_chk(bytes, sizeof bytes, 1, length, file); // PAIR c
    __fgets_chk(line, sizeof line, (int)length, file); // PAIR d
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
