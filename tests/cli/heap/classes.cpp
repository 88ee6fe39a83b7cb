// Heap blocks of C++: classes with bases, templates, what containers and smart pointers hold. As in fields.c, two threads
// make the accesses of each case, here as members or functions called one and two.
#include "invisible.h"

#include <list>
#include <memory>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline))

namespace net
{

struct Counted {
    int refs = 0;
    KEPT void one()
    {
        refs = 1;
    }
    KEPT void two()
    {
        refs = 2;
    }
};

// The base is not at the start, and its functions know nothing of the class.
struct Header {
    long magic = 0;
};
struct Conn : Header, Counted {
    int port = 0;
    std::string name;
};

// A pointer to a table of functions comes first.
class Shape
{
  public:
    virtual ~Shape()
    {
    }
    virtual void one() = 0;
    virtual void two() = 0;
};
class Circle : public Shape
{
    double radius = 0;
    long pad[9] = {};

  public:
    KEPT void one() override
    {
        radius = 1;
    }
    KEPT void two() override
    {
        radius = 2;
    }
};

template <class T> class Box
{
    T first = {}, second = {};
    char pad[44] = {};

  public:
    KEPT void one()
    {
        second = 1;
    }
    KEPT void two()
    {
        second = 2;
    }
};

} // namespace net

namespace other
{
// Of the same name, size and members as net::Conn's, so only the allocation tells.
struct Conn {
    long magic = 0;
    int refs = 0, port = 0;
    std::string name;
};
} // namespace other

KEPT static net::Conn *open_net()
{
    return new net::Conn;
}
KEPT static other::Conn *open_other()
{
    return new other::Conn;
}
KEPT static void other_one(other::Conn *c)
{
    c->refs = 1;
}
KEPT static void other_two(other::Conn *c)
{
    c->refs = 2;
}

KEPT static std::unique_ptr<net::Shape> make_shape()
{
    return std::make_unique<net::Circle>();
}
KEPT static std::unique_ptr<net::Circle> make_circle()
{
    return std::make_unique<net::Circle>();
}

struct Point {
    short x = 0, y = 0;
    int weight = 0;
};
KEPT static void points_one(std::vector<Point> &v)
{
    v[2].weight = 1;
}
KEPT static void points_two(std::vector<Point> &v)
{
    v[2].weight = 2;
}

// A node of the library's: no type of the program's has its size.
KEPT static void list_one(std::list<Point> &l)
{
    l.front().weight = 1;
}
KEPT static void list_two(std::list<Point> &l)
{
    l.front().weight = 2;
}

struct Job {
    long steps[7] = {};
    long result = 0;
};

int main()
{
    net::Conn *conn = open_net();
    other::Conn *stranger = open_other();
    std::unique_ptr<net::Circle> circle = make_circle();
    std::unique_ptr<net::Shape> shape = make_shape();
    auto *box = new net::Box<std::vector<int>::size_type>;
    std::vector<Point> points(5);
    std::list<Point> list(1);
    auto job = std::make_unique<Job>();
    auto first = [&] {
        conn->one();
        other_one(stranger);
        circle->one();
        shape->one();
        box->one();
        points_one(points);
        list_one(list);
        job->result = 1;
        mark();
    };
    auto second = [&] {
        after(1);
        conn->two();
        other_two(stranger);
        circle->two();
        shape->two();
        box->two();
        points_two(points);
        list_two(list);
        job->result = 2;
    };
    typedef decltype(first) First;
    typedef decltype(second) Second;
    pthread_t a = spawn([](void *f) -> void * { return (*(First *)f)(), nullptr; }, &first);
    pthread_t b = spawn([](void *f) -> void * { return (*(Second *)f)(), nullptr; }, &second);
    join(a);
    join(b);
    delete conn;
    delete stranger;
    delete box;
}
