/*
 * secure.c - a program with more privileges than the user who started it: a set-user-id program, or one with
 * file capabilities (AT_SECURE, getauxval(3)).
 *
 * Its environment is under another user's control, and so may be the files it could be made to touch.
 * Invariants:
 * - no option and no address to report to comes from the environment, and the variables are taken out of it,
 *   since a program that this one executes may no longer be marked as secure;
 * - nothing is written but to standard error, whatever options the program itself brings;
 * - no program is run, not even the reporter (report/find.c).
 */
#include <string.h>
#include <sys/auxv.h>

#include "base/filter.h"
#include "base/sys.h"
#include "runtime/init.h"

bool dh_runtime_secure;

/* Removes the variable from the environment. Was it there? */
static bool drop(char **envp, const char *name)
{
    char **to = envp;
    bool found = false;
    for (; envp && *envp; envp++) {
        if (strncmp(*envp, name, strlen(name)) != 0)
            *to++ = *envp;
        else
            found = true;
    }
    if (found)
        *to = NULL;
    return found;
}

void dh_runtime_secure_init(char **envp)
{
    dh_runtime_secure = getauxval(AT_SECURE) != 0;
    if (!dh_runtime_secure)
        return;
    drop(envp, "DEADHEAT_RUN=");
    drop(envp, DH_FILTER_ENV "=");
    if (drop(envp, "DEADHEAT_OPTIONS="))
        dh_sys_say(
            "DEADHEAT_OPTIONS is ignored: the program has other privileges than the user who started it");
}

void dh_runtime_secure_options(struct dh_options *o)
{
    if (!dh_runtime_secure)
        return;
    o->output[0] = o->reporter[0] = o->suppressions[0] = o->baseline[0] = '\0';
    o->record_fd = -1;
}
