/*
 * cmd_hive.c - `deadheat hive` is a program of its own beside the libraries: those of databases, HTTP and TLS
 * that it needs would more than double the time in which every other command starts, and `deadheat cc` starts
 * for each file of a project.
 */
#include "cli/cmd.h"

int dh_cmd_hive(int argc, char **argv)
{
    (void)argc;
    return dh_cli_become_part("hive", "deadheat-hive", argv);
}
