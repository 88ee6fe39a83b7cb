// putenv keeps the string that it is given.
// RULE: call
#define OWN_FRAME
#include "escape.h"

NOINLINE char *make(void)
{
    char *text = (char *)malloc(32);

    MUST(text);
    text[0] = 'C'; // PRIVATE
    return text;
}

THREAD(owner)
{
    char *text = make();

    strcpy(text, "CAPER=none");
    putenv(text);
    mark();
    text[6] = 'N'; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    *getenv("CAPER") = 'o'; // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
