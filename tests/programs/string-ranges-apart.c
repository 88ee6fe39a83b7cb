// Two threads fill adjacent parts of one buffer with the string functions: no byte in common.
// NO RACE
#include <stdio.h>
#include <string.h>

#include "invisible.h"

char text[64];
volatile int seven = 7;

THREAD(first)
{
    memset(text, 'a', seven);
    memcpy(text + 7, "bcd", seven - 4);
    strcpy(text + 10, "efghi");
    mark();
    after(2);
    MUST(strlen(text + 10) == 5);
    return NULL;
}

THREAD(second)
{
    after(1);
    strncpy(text + 16, "jkl", 8);
    strcpy(text + 24, "mno");
    strcat(text + 24, "pq");
    snprintf(text + 30, 10, "%d", 123456789);
    memmove(text + 40, text + 30, 10);
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(memcmp(text, "aaaaaaabcdefghi\0jkl", 20) == 0 && strcmp(text + 40, "123456789") == 0);
    return 0;
}
