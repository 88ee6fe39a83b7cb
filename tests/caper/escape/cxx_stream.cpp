// The bytes of the pointer, each put into a stream.
// RULE: piece
#include <sstream>

#include "escape.h"

static std::stringstream *stream;

__attribute__((constructor)) static void open_stream(void)
{
    stream = new std::stringstream;
}

NOINLINE void put(const char *bytes)
{
    for (size_t i = 0; i < sizeof(void *); i++)
        stream->put(bytes[i]);
}

static void publish(struct node *n)
{
    put(reinterpret_cast<const char *>(new struct node *(n)));
}

static struct node *receive(void)
{
    struct node *n;

    MUST(stream->read(reinterpret_cast<char *>(&n), sizeof(n)));
    return n;
}
