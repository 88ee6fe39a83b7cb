/*
 * intercept/exec.c - the program replaces itself by another.
 *
 * What was found so far is reported before, as at exit: afterwards it would be lost. The exit status is the
 * new program's. If exec fails the program continues, and so does the reporting, in a new stream.
 */
#define _GNU_SOURCE 1
#include <alloca.h>
#include <stdarg.h>
#include <unistd.h>

#include "runtime/report/report.h"
#include "runtime/threads/scope.h"

DH_INTERCEPTOR(int, execve, const char *path, char *const argv[], char *const envp[])
{
    DH_ENTER(execve, path, argv, envp);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(execve)(path, argv, envp)));
}

DH_INTERCEPTOR(int, execveat, int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    DH_ENTER(execveat, dir, path, argv, envp, flags);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(execveat)(dir, path, argv, envp, flags)));
}

DH_INTERCEPTOR(int, fexecve, int fd, char *const argv[], char *const envp[])
{
    DH_ENTER(fexecve, fd, argv, envp);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(fexecve)(fd, argv, envp)));
}

DH_INTERCEPTOR(int, execv, const char *path, char *const argv[])
{
    DH_ENTER(execv, path, argv);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(execv)(path, argv)));
}

DH_INTERCEPTOR(int, execvp, const char *file, char *const argv[])
{
    DH_ENTER(execvp, file, argv);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(execvp)(file, argv)));
}

DH_INTERCEPTOR(int, execvpe, const char *file, char *const argv[], char *const envp[])
{
    DH_ENTER(execvpe, file, argv, envp);
    dh_report_finish();
    DH_RETURN(DH_BLOCKING(REAL(execvpe)(file, argv, envp)));
}

/* The list forms become the vector forms. Leaves `ap` behind the list's end. */
#define COLLECT(first, argv)                                  \
    va_list ap, count;                                        \
    size_t n = 1;                                             \
    va_start(ap, first);                                      \
    va_copy(count, ap);                                       \
    for (const char *a = first; a; a = va_arg(count, char *)) \
        n++;                                                  \
    va_end(count);                                            \
    char **argv = alloca(n * sizeof(*argv));                  \
    argv[0] = (char *)first;                                  \
    for (size_t i = 1; i < n; i++)                            \
    argv[i] = va_arg(ap, char *)

DH_INTERCEPTOR(int, execl, const char *path, const char *arg, ...)
{
    COLLECT(arg, argv);
    va_end(ap);
    return execv(path, argv);
}

DH_INTERCEPTOR(int, execlp, const char *file, const char *arg, ...)
{
    COLLECT(arg, argv);
    va_end(ap);
    return execvp(file, argv);
}

DH_INTERCEPTOR(int, execle, const char *path, const char *arg, ...)
{
    COLLECT(arg, argv);
    char *const *env = va_arg(ap, char *const *);
    va_end(ap);
    return execve(path, argv, env);
}
