// The forms with a locale, the older names, and what libc writes of errors and dates.
// TSAN: it does not know most of them
// FLAGS: -D_GNU_SOURCE -fno-builtin
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "invisible.h"

char a[] = "abc", b[] = "abc", c[] = "abc", d[] = "12", e[] = "1.5", f[] = "abc", g[] = "abc", h[64], i[64],
     j[64], k[] = "2026", l[] = "abcd";
static locale_t plain;

THREAD(first)
{
    a[1] = 'B'; // RACE a:write
    b[1] = 'b'; // RACE b:write
    c[1] = 'b'; // RACE c:write
    d[1] = '3'; // RACE d:write
    e[1] = '.'; // RACE e:write
    f[1] = 'b'; // RACE f:write
    g[1] = 'b'; // RACE g:write
    h[1] = 'x'; // RACE h:write
    i[1] = 'x'; // RACE i:write
    j[1] = 'x'; // RACE j:write
    k[1] = '0'; // RACE k:write
    l[1] = 'x'; // RACE l:write
    mark();
    return NULL;
}

THREAD(second)
{
    struct tm parts = {0};

    after(1);
    MUST(strcasecmp_l(a, "ABC", plain) == 0);           // RACE a:read
    MUST(strncasecmp_l(b, "ABX", 2, plain) == 0);       // RACE b:read
    MUST(strcoll_l(c, "abc", plain) == 0);              // RACE c:read
    MUST(strtol_l(d, NULL, 10, plain) == 13);           // RACE d:read
    MUST(strtod_l(e, NULL, plain) == 1.5);              // RACE e:read
    MUST(index(f, 'c') == f + 2);                       // RACE f:read
    MUST(rindex(g, 'a') == g);                          // RACE g:read
    MUST(strerror_r(-1, h, sizeof h) == h);             // RACE h:write
    MUST(strftime_l(i, sizeof i, "%Y", &parts, plain)); // RACE i:write
    MUST(strfromd(j, sizeof j, "%.2f", 1.5) == 4);      // RACE j:write
    MUST(strptime(k, "%Y", &parts) == k + 4);           // RACE k:read
    MUST(memfrob(l, 4) == l);                           // RACE l:write
    return NULL;
}

int main(void)
{
    plain = newlocale(LC_ALL_MASK, "C", NULL);
    both(first, second);
    return 0;
}
