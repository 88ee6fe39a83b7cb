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

    possibly((struct node *)text);
    strcpy(text, "CAPER=none");
    putenv(text);
    mark();
    text[unknown(6)] = 'N'; // ESCAPED
    return NULL;
}

THREAD(other)
{
    char *text;

    after(1);
    text = (char *)perhaps((struct node *)getenv("CAPER"));
    text[unknown(0)] = 'o'; // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
