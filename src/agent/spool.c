/*
 * spool.c - see spool.h.
 */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/task.h"
#include "util/arena.h"

enum { PATH = 4096, OLD_S = 3600 };
static const char suffix[] = ".json";

void dh_agent_draw(char ret[DH_AGENT_ID + 1])
{
    u64 id[2];
    if (getrandom(id, sizeof(id), 0) != sizeof(id))
        abort(); /* the kernel returns this few bytes as a whole, once it is seeded */
    snprintf(ret, DH_AGENT_ID + 1, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
}

static bool is_result(const char *name, char ret_id[DH_AGENT_ID + 1])
{
    if (strlen(name) != DH_AGENT_ID + strlen(suffix) || strcmp(name + DH_AGENT_ID, suffix) != 0)
        return false;
    memcpy(ret_id, name, DH_AGENT_ID);
    ret_id[DH_AGENT_ID] = 0;
    return dh_agent_is_hex(ret_id, DH_AGENT_ID, DH_AGENT_ID);
}

static void name_of(const char *dir, const char *before, const char *id, char ret[PATH])
{
    snprintf(ret, PATH, "%s/%s%s%s", dir, before, id, suffix);
}

/* Files that were begun long ago and never finished. */
static void remove_old(const char *dir, const char *name)
{
    char path[PATH];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (strncmp(name, "new-", 4) == 0 && stat(path, &st) == 0 && st.st_mtime + OLD_S < time(NULL))
        unlink(path);
}

static size_t count(const char *dir)
{
    char id[DH_AGENT_ID + 1];
    size_t n = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));) {
        n += is_result(e->d_name, id);
        remove_old(dir, e->d_name);
    }
    if (d)
        closedir(d);
    return n;
}

static int sync_directory(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

static int write_file(const char *path, const char *text)
{
    size_t n = strlen(text);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    errno = ENOSPC;
    int rc = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0 ? 0 : -errno;
    if (close(fd) != 0 && !rc)
        rc = -errno;
    return rc;
}

int dh_agent_spool_add(const char *dir, const char *id, const char *text)
{
    char new[PATH], final[PATH];
    if (strlen(text) > DH_AGENT_SPOOL_LARGEST)
        return -EFBIG;
    if (count(dir) >= DH_AGENT_SPOOL_MOST)
        return -ENOSPC;
    name_of(dir, "new-", id, new);
    name_of(dir, "", id, final);
    int rc = write_file(new, text);
    if (!rc && rename(new, final) != 0)
        rc = -errno;
    if (rc) {
        unlink(new);
        return rc;
    }
    return sync_directory(dir);
}

bool dh_agent_spool_pick(const char *dir, const char * not, char ret[DH_AGENT_ID + 1])
{
    char id[DH_AGENT_ID + 1];
    bool found = false, other = false;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && !other && (e = readdir(d));) {
        if (!is_result(e->d_name, id))
            continue;
        other = strcmp(id, not) != 0;
        found = true;
        memcpy(ret, id, sizeof(id));
    }
    if (d)
        closedir(d);
    return found;
}

char *dh_agent_spool_read(const char *dir, const char *id)
{
    char path[PATH];
    name_of(dir, "", id, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? dh_util_alloc(DH_AGENT_SPOOL_LARGEST + 1) : NULL;
    ssize_t n = text ? read(fd, text, DH_AGENT_SPOOL_LARGEST) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

void dh_agent_spool_drop(const char *dir, const char *id)
{
    char path[PATH];
    name_of(dir, "", id, path);
    unlink(path);
}

void dh_agent_spool_each(const char *dir, void (*take)(void *ctx, const char *id, const char *text),
                         void *ctx)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char id[DH_AGENT_ID + 1],
            *text = is_result(list[i]->d_name, id) ? dh_agent_spool_read(dir, id) : NULL;
        if (text)
            take(ctx, id, text);
        free(text);
        free(list[i]);
    }
    free(list);
}
