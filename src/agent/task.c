/*
 * task.c - see task.h.
 */
#include "agent/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

bool dh_agent_is_hex(const char *text, size_t n, size_t most)
{
    size_t digits = text ? strspn(text, "0123456789abcdef") : 0;
    return text && !text[digits] && digits >= n && digits <= most;
}

static const char *text_in(const json_t *o, const char *member)
{
    return json_string_value(json_object_get(o, member));
}

static bool read_id(const char *text, u64 *ret)
{
    if (!dh_agent_is_hex(text, 16, 16))
        return false;
    *ret = strtoull(text, NULL, 16);
    return true;
}

const char *dh_agent_task_read(const json_t *o, const char *build, struct dh_agent_task *ret)
{
    struct dh_agent_task t = {0};
    const json_t *number = json_object_get(o, "task"), *tau = json_object_get(o, "tau_us");
    const json_t *sites = json_object_get(o, "sites");
    const char *kind = text_in(o, "kind"), *order = text_in(o, "order"), *of = text_in(o, "build");
    if (json_is_null(o)) {
        *ret = t;
        return NULL;
    }
    if (!json_is_integer(number) || json_integer_value(number) < 0 || !kind || !order || !of ||
        !json_is_integer(tau) || json_array_size(sites) != 2 || !read_id(text_in(o, "unit"), &t.unit) ||
        !read_id(json_string_value(json_array_get(sites, 0)), &t.sites[0]) ||
        !read_id(json_string_value(json_array_get(sites, 1)), &t.sites[1]))
        return "it is no task";
    if (strcmp(of, build) != 0)
        return "it is about another build";
    if (json_integer_value(tau) < 0 || json_integer_value(tau) > DH_AGENT_MOST_TAU_US)
        return "its time to wait is not between 0 and 200 ms";
    if ((strcmp(kind, "validation") != 0 && strcmp(kind, "inference") != 0) ||
        (strcmp(order, "primary") != 0 && strcmp(order, "alternate") != 0))
        return "it is of a kind or an order that this version does not know";
    t.number = (u64)json_integer_value(number);
    t.kind = kind[0] == 'v' ? DH_AGENT_VALIDATION : DH_AGENT_INFERENCE;
    t.alternate = order[0] == 'a';
    t.tau_us = (u64)json_integer_value(tau);
    *ret = t;
    return NULL;
}

/* ---- The board ---- */

struct dh_agent_board *dh_agent_board_new(void)
{
    void *p =
        mmap(NULL, sizeof(struct dh_agent_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void dh_agent_board_free(struct dh_agent_board *b)
{
    if (b)
        munmap(b, sizeof(*b));
}

void dh_agent_board_write(struct dh_agent_board *b, const struct dh_agent_task *task)
{
    if (b->asked && memcmp(&b->task, task, sizeof(*task)) == 0)
        return;
    __atomic_fetch_add(&b->turn, 1, __ATOMIC_ACQ_REL);
    b->task = *task;
    b->asked = 1;
    __atomic_fetch_add(&b->turn, 1, __ATOMIC_ACQ_REL);
}

u32 dh_agent_board_turn(const struct dh_agent_board *b)
{
    return __atomic_load_n(&b->turn, __ATOMIC_ACQUIRE);
}

struct dh_agent_task dh_agent_board_read(const struct dh_agent_board *b, u32 *ret_turn, bool *ret_asked)
{
    const struct timespec pause = {0, 100000};
    for (int i = 0; i < 100; i++) {
        u32 turn = dh_agent_board_turn(b);
        struct dh_agent_task task = b->task;
        bool asked = b->asked;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(turn & 1) && dh_agent_board_turn(b) == turn) {
            *ret_turn = turn;
            *ret_asked = asked;
            return task;
        }
        nanosleep(&pause, NULL);
    }
    /* The writer died in the middle. */
    *ret_turn = dh_agent_board_turn(b);
    *ret_asked = true;
    return (struct dh_agent_task){0};
}
