/*
 * cmd_agent.c - `deadheat agent` is a program of its own, as `deadheat hive` is, for the library of HTTP.
 */
#include "cli/cmd.h"

int dh_cmd_agent(int argc, char **argv)
{
    (void)argc;
    return dh_cli_become_part("agent", "deadheat-agent", argv);
}
