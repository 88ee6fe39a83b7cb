/*
 * programs.c - see programs.h.
 */
#include "report/programs.h"

#include <inttypes.h>
#include <string.h>

#include "util/path.h"
#include "util/text.h"

struct dh_program *dh_programs_list(struct dh_arena *arena, const struct dh_model *m)
{
    struct dh_map known;
    struct dh_program *first = NULL, **end = &first;
    size_t n = 0;
    for (const struct dh_model_process *p = m->process; p; p = p->next)
        n += p->announced;
    /* The model's list begins with the process that began last. */
    const struct dh_model_process **processes = dh_arena_array(arena, n, sizeof(*processes));
    size_t at = n;
    for (const struct dh_model_process *p = m->process; p; p = p->next)
        if (p->announced)
            processes[--at] = p;
    dh_map_init(&known, arena);
    for (size_t i = 0; i < n; i++) {
        const struct dh_model_process *p = processes[i];
        struct dh_program *program = dh_map_get(&known, p->exe, strlen(p->exe));
        if (!program) {
            program = dh_arena_alloc(arena, sizeof(*program));
            *program = (struct dh_program){.exe = p->exe};
            dh_map_put(&known, p->exe, strlen(p->exe), program);
            *end = program;
            end = &program->next;
        }
        program->processes++;
        program->raced += p->raced;
    }
    dh_map_done(&known);
    return first;
}

void dh_programs_print(FILE *out, const char *cwd, const struct dh_program *first)
{
    for (const struct dh_program *program = first; program; program = program->next) {
        if (!program->raced)
            continue;
        fputs("  ", out);
        dh_text_put(out, program->exe[0] ? dh_path_beneath(cwd ? cwd : "/", program->exe) : "?");
        if (program->processes == 1)
            fputs(": 1 process raced\n", out);
        else if (program->raced == program->processes)
            fprintf(out, ": all %" PRIu64 " processes raced\n", program->processes);
        else
            fprintf(out, ": %" PRIu64 " of %" PRIu64 " processes raced\n", program->raced,
                    program->processes);
    }
}
