// sscanf stores each conversion with its own size: the byte behind each is free for others.
#include <stdio.h>

#include "invisible.h"

/* Wide enough that what lies behind the stored bytes is not the next variable. */
union room {
    char bytes[32];
    signed char sc;
    short s;
    int i;
    long l;
    float f;
    double d;
    long double ld;
    void *p;
} hh, h, i, l, f, d, ld, text, three, set, width, n, rest;
char input[] = "1 2 3 4 0.5 0.25 0.125 hello xyzab 1234567 stop";

THREAD(first)
{
    const char *format = "%hhd %hd %d %ld %f %lf %Lf %s %3c%[abc] %3d%n%*s z%d";
    int stored;

    /* clang-format off */
    stored = sscanf(input, format, &hh, &h, &i, &l, &f, &d, &ld, &text, &three, &set, &width, &n, &rest); // RACE a b c d e f g h i j k l
    /* clang-format on */
    MUST(stored == 11);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    hh.bytes[1] = h.bytes[2] = i.bytes[4] = l.bytes[8] = f.bytes[4] = d.bytes[8] = 1;
    ld.bytes[16] = text.bytes[6] = three.bytes[3] = set.bytes[3] = width.bytes[4] = n.bytes[4] = 1;
    rest.i = 1;
    hh.bytes[0] = 1;    // RACE a:write
    h.bytes[1] = 1;     // RACE b:write
    i.bytes[3] = 1;     // RACE c:write
    l.bytes[7] = 1;     // RACE d:write
    f.bytes[3] = 1;     // RACE e:write
    d.bytes[7] = 1;     // RACE f:write
    ld.bytes[9] = 1;    // RACE g:write
    text.bytes[5] = 1;  // RACE h:write
    three.bytes[2] = 1; // RACE i:write
    set.bytes[2] = 1;   // RACE j:write
    width.bytes[3] = 1; // RACE k:write
    n.bytes[3] = 1;     // RACE l:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
