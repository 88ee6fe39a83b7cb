/*
 * agent_show.c - `deadheat agent show`: every request that the agent would send now, exactly as it would be
 * sent, except for the key, of which only the location is shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/build.h"
#include "cli/agent.h"
#include "cli/cmd.h"

static void print(const struct dh_cli_agent *c, const char *path, const char *user, const char *body)
{
    printf(
        "POST %s%s\nAuthorization: Bearer (the key in %s)\nX-Deadheat-User: %s\nContent-Type: "
        "application/json\n\n%s\n\n",
        c->settings.hive, path, c->settings.key_file, user, body);
}

struct show {
    struct dh_cli_agent *c;
    const char *user;
    size_t n;
};

static void print_result(void *ctx, const char *id, const char *text)
{
    struct show *s = ctx;
    (void)id;
    print(s->c, "/v1/results", s->user, text);
    s->n++;
}

static void print_user(void *ctx, const char *dir)
{
    struct show *s = ctx;
    struct dh_agent_user u;
    if (dh_agent_user_open(&u, &s->c->settings, dir, NULL) != 0)
        return;
    s->user = u.id;
    dh_agent_spool_each(u.spool, print_result, s);
    FILE *f = fopen(u.trouble, "re");
    char line[1024];
    if (f && fgets(line, sizeof(line), f))
        fprintf(stderr, "deadheat agent: what last went wrong: %s", line);
    if (f)
        fclose(f);
    dh_agent_user_close(&u);
}

int dh_cli_agent_show(struct dh_cli_agent *c)
{
    struct show s = {.c = c};
    for (size_t i = 0; i < c->n_programs; i++) {
        char id[DH_AGENT_BUILD + 1];
        const char *why;
        struct dh_agent_user u;
        if (dh_agent_build_id(&c->arena, c->programs[i], id, &why) != 0)
            return dh_cli_fail(c->command, "'%s' %s", c->programs[i], why);
        if (dh_agent_user_open(&u, &c->settings, dh_agent_user_dir(&c->arena, &c->settings, id), NULL) != 0)
            return dh_cli_fail(c->command, "cannot use the directory '%s'", c->settings.state);
        char *body = dh_agent_poll_body(id, 0, 0);
        print(c, "/v1/poll", u.id, body);
        free(body);
        dh_agent_user_close(&u);
    }
    dh_agent_each_user(&c->settings, print_user, &s);
    fprintf(stderr, "deadheat agent: %zu result%s to be sent\n", s.n, s.n == 1 ? "" : "s");
    return 0;
}
