// The argument of an option: getopt leaves a pointer to it in a variable of the library.
// RULE: call
#include <getopt.h>

#include "escape.h"

static void publish(struct node *n)
{
    static const struct option options[] = {{"node", required_argument, NULL, 'n'}, {NULL, 0, NULL, 0}};
    char **arguments = (char **)calloc(4, sizeof(*arguments));

    MUST(arguments);
    arguments[1] = (char *)"--node";
    arguments[2] = (char *)n;
    MUST(getopt_long(3, arguments, "", options, NULL) == 'n');
}

static struct node *receive(void)
{
    return (struct node *)optarg;
}
