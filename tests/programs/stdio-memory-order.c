// What one thread puts into a stream over memory the next user of the stream finds, in order.
// NO RACE
// TSAN: it knows no order by streams
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "invisible.h"

static char both_ways[64], *text;
static size_t size;
static FILE *f, *m, *u;
int x;

THREAD(writer)
{
    x = 1;
    MUST(fputs("message", f) >= 0);
    for (int i = 0; i < 5000; i++) /* libc has to find more memory, again and again */
        MUST(fputs("0123456789", m) >= 0 && putc_unlocked('-', m) == '-');
    MUST(fflush(m) == 0 && size == 55000 && fputc('.', m) == '.');
    mark();
    return NULL;
}

THREAD(reader)
{
    char word[16];

    after(1);
    rewind(f);
    MUST(fscanf(f, "%15s", word) == 1 && strcmp(word, "message") == 0);
    MUST(x == 1);
    x = 2;
    both_ways[0] = 'M';
    for (int i = 0; i < 5000; i++)
        MUST(fputc('+', m) == '+');
    MUST(fclose(m) == 0);
    MUST(size == 60001 && strlen(text) == size && text[54999] == '-');
    free(text);
    return NULL;
}

/* Two read from one memory, and a third with them. */
THREAD(looks)
{
    FILE *own = fmemopen(both_ways, 8, "r");
    char word[16];

    MUST(own && fread(word, 1, 7, own) == 7 && both_ways[1] == 'e');
    MUST(fgets(word, 3, u) != NULL);
    return (void *)(long)fclose(own);
}

int main(void)
{
    f = fmemopen(both_ways, sizeof both_ways, "w+");
    m = open_memstream(&text, &size);
    MUST(f && m);
    both(writer, reader);
    MUST(fclose(f) == 0);
    u = fmemopen(both_ways, 8, "r");
    MUST(u);
    both(looks, looks);
    return 0;
}
