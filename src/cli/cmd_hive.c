/*
 * cmd_hive.c - `deadheat hive` is a separate program installed next to the libraries: the database, HTTP and
 * TLS libraries it needs would more than double the startup time of every other command, and `deadheat cc` is
 * started for each file of a project.
 */
#include "cli/cmd.h"

int dh_cmd_hive(int argc, char **argv)
{
    (void)argc;
    return dh_cli_become_part("hive", "deadheat-hive", argv);
}
