// Ways that lead through libstdc++, which keeps no shadow frames: the report must name the caller all the same.
// Threads are created inside std::thread, a string is written inside its assign(). Then a race inside a library
// opened by a relative name, after which the directory is changed.
#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <thread>

static int shared;
static std::string text(100, 'a');

__attribute__((noinline)) static void start_two()
{
    std::thread a([] { shared = 1; });
    std::thread b([] { shared = 2; });
    a.join();
    b.join();
}

__attribute__((noinline)) static void assign(const char *what)
{
    text.assign(what);
}

static void assign_often()
{
    for (int i = 0; i < 100; i++) // the first time is learned, the others are known
        assign("some other text");
}

int main(int, char **argv)
{
    start_two();
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr || chdir("/") != 0)
        return 1;
    auto touch = reinterpret_cast<void (*)()>(dlsym(library, "touch"));
    std::thread c(touch), d(touch);
    c.join();
    d.join();
    assign_often();
    std::thread e(assign_often), f(assign_often);
    e.join();
    f.join();
    return 0;
}
