// Blocks that libc allocates for the program, or for itself, where another thread's memory was: asprintf,
// strdup, getline, scandir, open_memstream, getcwd, getaddrinfo.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

enum { KINDS = 12, PIECES = 8 };

/* Small blocks of many sizes, all written to, so that what comes next is likely
 * to lie there. */
static void litter(int value)
{
    char *p[KINDS][PIECES];

    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < PIECES; j++) {
            p[i][j] = malloc(16 << i);
            memset(p[i][j], value, 16 << i);
        }
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < PIECES; j++)
            free(p[i][j]);
}

static void let_libc(FILE *f)
{
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST, .ai_family = AF_INET};
    struct dirent **names = NULL;
    char *text = NULL, *line = NULL, *copy, *where;
    size_t size = 0;
    FILE *memory;
    int n;

    MUST(asprintf(&text, "%0300d", 1) == 300 && (copy = strdup(text)) && copy[299] == '1');
    copy[0] = text[1] = 'x';
    rewind(f);
    MUST(getline(&line, &size, f) == 5);
    line[0] = 'y';
    n = scandir("/", &names, NULL, alphasort);
    MUST(n > 2);
    while (n-- > 0) {
        names[n]->d_name[0] = 'z';
        free(names[n]);
    }
    MUST((where = getcwd(NULL, 0)) && where[0] == '/');
    where[0] = '.';
    MUST(getaddrinfo("127.0.0.1", NULL, &hints, &found) == 0 && found);
    found->ai_flags = 0;
    freeaddrinfo(found);
    free(text);
    free(copy);
    free(line);
    free(names);
    free(where);
    text = NULL;
    memory = open_memstream(&text, &size);
    MUST(memory && fprintf(memory, "%0100d", 2) == 100 && fclose(memory) == 0 && text[99] == '2');
    text[0] = 'w';
    free(text);
}

static FILE *file[2];

THREAD(first)
{
    litter(1);
    let_libc(file[0]);
    mark();
    after(2);
    litter(3);
    return NULL;
}

THREAD(second)
{
    after(1);
    let_libc(file[1]);
    litter(2);
    mark();
    return NULL;
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < 2; i++) {
        file[i] = tmpfile();
        MUST(file[i] && fputs("line\n", file[i]) >= 0);
    }
    both(first, second);
    return 0;
}
