/*
 * hive_main.c - `deadheat hive`: its commands and flags. It is a separate program,
 * lib/deadheat/deadheat-hive, which `deadheat` executes (cmd_hive.c).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "util/output.h"
#include "util/stack.h"

static const char usage[] =
    "usage: deadheat hive serve --db=DB [OPTIONS]\n"
    "       deadheat hive add --db=DB|--hive=URL [--program=NAME] [--style=relay|sound] [--filter=FILE] "
    "[--source]\n"
    "                         FILE...\n"
    "       deadheat hive key --db=DB|--hive=URL --program=NAME [--revoke=NUMBER]\n"
    "       deadheat hive status --db=DB [--format=text|json|csv]\n"
    "       deadheat hive export --db=DB --format=json|sarif|csv [--program=NAME] [--build=ID] [-o FILE]\n"
    "       deadheat hive forget --db=DB --build=ID | --user=NUMBER | --program=NAME --candidate=ID\n"
    "       deadheat hive backup --db=DB -o FILE\n"
    "\n"
    "A hive lets the users of a program find out which of its possible races are real. It gives each user "
    "one task\n"
    "at a time, collects the results, and derives verdicts from them.\n"
    "\n"
    "  --db=DB               a file (SQLite), or postgres://... for several hives sharing one database\n"
    "\n"
    "serve: run the HTTP server, with its web page. On SIGTERM or SIGINT it stores all requests in "
    "progress and\n"
    "exits.\n"
    "  --listen=ADDRESS      address and port: 127.0.0.1:7070 (default), [::1]:7070; port 0 is any free one\n"
    "  --cert=FILE --key=FILE  a certificate and its key (PEM): serve HTTPS\n"
    "  --insecure            serve other machines without a certificate\n"
    "  --admin-token-file=FILE  a file with the administrator's token; without it there is no "
    "administration\n"
    "  --reader-token-file=FILE  a file with a token for read-only access to the page and its data\n"
    "  --rate=N              requests per second allowed for one user (default: 20)\n"
    "  --connections=N       maximum number, half of them from one address (default: 8192)\n"
    "  --timeout=SECONDS     close connections that are idle, or on which a request or an answer takes "
    "longer\n"
    "                        (default: 30)\n"
    "  --snapshot=EVENTS     on start and stop, write a snapshot for a quick next start if the last one is "
    "this many\n"
    "                        events behind (default: 200000)\n"
    "  --bound=SECONDS       a task that takes longer is also given to another user (default: 600)\n"
    "\n"
    "add: register field builds ('deadheat cc --dh-mode=field') with their sites and pairs. The first "
    "build of\n"
    "a program gets a key, which is shown only once: agents need it.\n"
    "  --hive=URL            use the hive served at this address, with --admin-token-file; also for 'key'\n"
    "  --cert=FILE           trust this certificate\n"
    "  --program=NAME        the program that these are builds of (default: the file's name)\n"
    "  --style=relay|sound   which pairs are candidates, as in 'deadheat static' (default: relay)\n"
    "  --filter=FILE         only pairs in dpPairs, from a file by 'deadheat caper export --to=filter';\n"
    "                        the default style is then sound\n"
    "  --source              also upload the source lines around the accesses, to be shown with them\n"
    "\n"
    "key: create another key, or revoke one by its number.\n"
    "status: the number of candidates with each verdict, by program. export: every candidate with its "
    "verdict.\n"
    "forget: drop a candidate's results, so that it is validated again; a build; or a user, whose results "
    "remain.\n"
    "backup: copy the file while the hive runs. For PostgreSQL, use pg_dump.\n"
    "  --help                this text\n"
    "\n"
    "Examples:\n"
    "  deadheat hive add --db=hive.db ./server\n"
    "  deadheat hive serve --db=hive.db --admin-token-file=token\n"
    "  deadheat hive status --db=hive.db\n";

static const struct {
    const char *name;
    int (*run)(struct dh_cli_hive *c);
    const char *called;
} commands[] = {{"serve", dh_cli_hive_serve, "hive serve"},    {"add", dh_cli_hive_add, "hive add"},
                {"key", dh_cli_hive_key, "hive key"},          {"status", dh_cli_hive_status, "hive status"},
                {"export", dh_cli_hive_export, "hive export"}, {"forget", dh_cli_hive_forget, "hive forget"},
                {"backup", dh_cli_hive_backup, "hive backup"}};

static int set_flag(struct dh_cli_hive *c, const char *arg, const char *next, int *ret_used)
{
    const struct {
        const char *name;
        const char **to;
    } flags[] = {{"db", &c->db},
                 {"hive", &c->hive},
                 {"program", &c->program},
                 {"build", &c->build},
                 {"candidate", &c->candidate},
                 {"style", &c->style},
                 {"filter", &c->filter},
                 {"user", &c->user},
                 {"format", &c->format},
                 {"output", &c->output},
                 {"revoke", &c->revoke},
                 {"listen", &c->listen},
                 {"cert", &c->cert},
                 {"key", &c->key},
                 {"admin-token-file", &c->token},
                 {"rate", &c->rate},
                 {"bound", &c->bound},
                 {"connections", &c->connections},
                 {"timeout", &c->timeout},
                 {"snapshot", &c->snapshot},
                 {"reader-token-file", &c->reader}};
    static const char *const names[] = {"--db",
                                        "--hive",
                                        "--program",
                                        "--build",
                                        "--candidate",
                                        "--user",
                                        "--format",
                                        "--output",
                                        "--revoke",
                                        "--listen",
                                        "--cert",
                                        "--key",
                                        "--admin-token-file",
                                        "--rate",
                                        "--bound",
                                        "--connections",
                                        "--timeout",
                                        "--snapshot",
                                        "--insecure",
                                        "--help",
                                        "--source",
                                        "--style",
                                        "--reader-token-file",
                                        "--filter"};
    const char *v;
    for (size_t i = 0; i < DH_ARRAY_LEN(flags); i++) {
        if ((v = dh_cli_value(arg, flags[i].name))) {
            *flags[i].to = v;
            return 0;
        }
        if (next && strncmp(arg, "--", 2) == 0 && strcmp(arg + 2, flags[i].name) == 0) {
            *flags[i].to = next;
            *ret_used = 1;
            return 0;
        }
    }
    if (strcmp(arg, "-o") == 0 && next) {
        c->output = next;
        *ret_used = 1;
        return 0;
    }
    bool *yes = strcmp(arg, "--insecure") == 0 ? &c->insecure
                : strcmp(arg, "--source") == 0 ? &c->source
                                               : NULL;
    if (yes) {
        *yes = true;
        return 0;
    }
    return dh_cli_unknown_flag(c->command, arg, names, DH_ARRAY_LEN(names));
}

static int read_flags(struct dh_cli_hive *c, int argc, char **argv)
{
    int rc = 0;
    c->files = dh_arena_array(&c->arena, (size_t)argc + 1, sizeof(*c->files));
    for (int i = 2; !rc && i < argc; i++) {
        int used = 0;
        if (argv[i][0] == '-')
            rc = set_flag(c, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used);
        else
            c->files[c->n_files++] = argv[i];
        i += used;
    }
    bool remote = strcmp(c->command, "hive add") == 0 || strcmp(c->command, "hive key") == 0;
    if (!rc && c->hive && (c->db || !remote))
        rc = dh_cli_fail(c->command,
                         c->db ? "--db or --hive, not both" : "it needs the database: --db=hive.db");
    if (!rc && !c->db && !c->hive)
        rc = dh_cli_fail(c->command, "which hive? Give its database: --db=hive.db, or --db=postgres://...");
    if (!rc && c->style && strcmp(c->style, "relay") != 0 && strcmp(c->style, "sound") != 0)
        rc = dh_cli_fail(c->command, "--style cannot be '%s'; it must be relay or sound", c->style);
    if (!rc && c->filter && strcmp(c->command, "hive add") != 0)
        rc = dh_cli_fail(c->command, "--filter is for 'deadheat hive add'");
    if (!rc && c->n_files && strcmp(c->command, "hive add") != 0)
        rc = dh_cli_fail(c->command, "it takes no file: '%s'", c->files[0]);
    return rc;
}

static int run(int argc, char **argv)
{
    const char *names[DH_ARRAY_LEN(commands)];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
    }
    for (size_t i = 0; argc > 1 && i < DH_ARRAY_LEN(commands); i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        struct dh_cli_hive c = {.command = commands[i].called};
        int rc = read_flags(&c, argc, argv);
        if (!rc)
            rc = commands[i].run(&c);
        dh_arena_done(&c.arena);
        return rc;
    }
    if (argc < 2)
        return dh_cli_fail("hive", "what? 'deadheat hive --help' lists its commands");
    const char *nearest = dh_cli_nearest(argv[1], strlen(argv[1]), names, DH_ARRAY_LEN(names));
    return nearest
               ? dh_cli_fail("hive", "there is no command '%s'; did you mean '%s'?", argv[1], nearest)
               : dh_cli_fail("hive", "there is no command '%s'; 'deadheat hive --help' lists them", argv[1]);
}

int main(int argc, char **argv)
{
    dh_output_begin_standard();
    int status = dh_stack_call(run, argc, argv);
    int rc = dh_output_end_standard();
    return rc ? dh_cli_fail("hive", "cannot write to standard output: %s", strerror(-rc)) : status;
}
