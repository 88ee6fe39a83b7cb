// Functions that are seldom used read and write memory as well.
// TSAN: it does not know strverscmp and swab
// FLAGS: -D_GNU_SOURCE -fno-builtin
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "invisible.h"

char version[] = "a9", even[] = "abcd", odd[] = "abcd", name[] = "/nonexistent/file", command[] = "true";
static char swapped[4];

THREAD(first)
{
    version[1] = '1'; // RACE a:write
    even[2] = 'x';    // RACE b:write
    odd[0] = 'x';     // RACE c:write
    name[1] = 'N';    // RACE d:write
    command[0] = 't'; // RACE e:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(strverscmp(version, "a10"));        // RACE a:read
    swab(even, swapped, 4);                 // RACE b:read
    swab("abcd", odd, 4);                   // RACE c:write
    MUST(fopen(name, "r") == NULL);         // RACE d:read
    MUST(pclose(popen(command, "r")) == 0); // RACE e:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
