// scanf with positions, with allocation, stopped early, from a stream and through a va_list.
// TSAN: it does not follow positions, nor what %m allocates
// FLAGS: -D_GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "invisible.h"

int one, two, late, from_file, through_list, ignored, unsure;
char *made, input[] = "1 2 word 5 x";
void *hidden;
FILE *file;

static int scan(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int r = vsscanf(input, format, ap); // RACE d:write
    va_end(ap);
    return r;
}

THREAD(first)
{
    MUST(sscanf(input, "%2$d %1$d", &two, &one) == 2);           // RACE a:write b:write
    MUST(sscanf(input, "%*d %*d %ms %d", &made, &ignored) == 2); // RACE c:write e:write
    hide(&hidden, made);
    MUST(sscanf(input, "%*s %d z%d%n", &ignored, &late, &late) == 1);
    MUST(sscanf(input, "%*sz%n", &unsure) == 0);
    MUST(fscanf(file, "%d", &from_file) == 1); // RACE f:write
    MUST(scan("%d", &through_list) == 1);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    late = unsure = 1;
    one = 1;                        // RACE a:write
    two = 1;                        // RACE b:write
    made = NULL;                    // RACE c:write
    through_list = 1;               // RACE d:write
    ((char *)seek(&hidden))[4] = 1; // RACE e:write
    from_file = 1;                  // RACE f:write
    return NULL;
}

int main(void)
{
    file = fdopen(memfd_create("file", 0), "w+");
    MUST(file && fputs("77\n", file) >= 0);
    rewind(file);
    both(first, second);
    fclose(file);
    return 0;
}
