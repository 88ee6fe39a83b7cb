/*
 * cmd_agent.c - `deadheat agent` and `deadheat crowd` are one separate program, like `deadheat hive`, because
 * of the HTTP library.
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
