// Virtual functions, one of two classes.
#include <thread>

struct base {
    virtual ~base()
    {
    }
    virtual void go(int *p) = 0;
    int n = 0;
};

struct left : base {
    void go(int *p) override
    {
        *p = 1;
        n++;
    }
};

struct right : base {
    void go(int *p) override
    {
        *p = 2; // RACE a
        n--;    // RACE b
    }
};
int x;

int main(int argc, char **)
{
    base *b = argc > 5 ? (base *)new left : new right;
    std::thread t([b] { b->go(&x); });
    b->go(&x);
    t.join();
    delete b;
}
