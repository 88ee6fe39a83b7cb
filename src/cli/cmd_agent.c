/*
 * cmd_agent.c - `deadheat agent` and `deadheat crowd` are one program of their own, as `deadheat hive` is,
 * for the library of HTTP.
 */
#include "cli/cmd.h"

int dh_cmd_agent(int argc, char **argv)
{
    (void)argc;
    return dh_cli_become_part("agent", "deadheat-agent", argv);
}

int dh_cmd_crowd(int argc, char **argv)
{
    (void)argc;
    return dh_cli_become_part("crowd", "deadheat-agent", argv);
}
