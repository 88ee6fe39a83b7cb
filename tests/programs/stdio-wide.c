// Wide input and output touch the program's memory as narrow ones do, in units of wide characters.
// TSAN: it does not know most of these
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <wchar.h>

#include "invisible.h"

int number;
char narrow[16];
wchar_t wide[16], line[16], out[16], printed[16], shown[16] = L"ab", input[] = L"12 narrow wide";
static FILE *f;

THREAD(first)
{
    MUST(swscanf(input, L"%d %s %ls", &number, narrow, wide) == 3); // RACE a:write b:write c:write
    MUST(fgetws(line, 16, f) != NULL);                              // RACE d:write
    rewind(f);
    MUST(fputws(out, f) >= 0);                        // RACE e:read
    MUST(swprintf(printed, 16, L"%ls!", shown) == 3); // RACE f:write g:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    narrow[7] = wide[5] = line[3] = out[4] = printed[4] = 1;
    number = 1;     // RACE a:write
    narrow[6] = 1;  // RACE b:write
    wide[4] = 1;    // RACE c:write
    line[2] = 1;    // RACE d:write
    out[3] = 1;     // RACE e:write
    printed[3] = 1; // RACE f:write
    shown[2] = 1;   // RACE g:write
    return NULL;
}

int main(void)
{
    wcscpy(out, L"out");
    f = fdopen(memfd_create("file", 0), "w+");
    MUST(f && fputws(L"xy", f) >= 0);
    rewind(f);
    both(first, second);
    return 0;
}
