/*
 * test_shorten.c - src/report/shorten.c: what is left out of C++ names and what must stay; names that are none.
 */
#include <stdlib.h>
#include <string.h>

#include "report/symbol.h"
#include "unit/check.h"

static struct dh_arena arena;

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
    const char *full, *brief;
} cases[] = {
    /* Strings and streams. */
    {STRING, "std::string"},
    {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>", "std::string"},
    {"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
     "std::wstring"},
    {"std::__cxx11::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t> >",
     "std::u16string"},
    {"std::basic_string_view<char, std::char_traits<char> >::substr(unsigned long)",
     "std::string_view::substr(unsigned long)"},
    {"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> "
     ">(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
     "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"},
    {"std::basic_ostream<char, std::char_traits<char>>& std::operator<<<std::char_traits<char>>(int)",
     "std::ostream& std::operator<<<std::char_traits<char>>(int)"},
    {"std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >::str() const",
     "std::ostringstream::str() const"},
    {"std::basic_istream<wchar_t, std::char_traits<wchar_t> >::get()", "std::wistream::get()"},
    {STRING "::basic_string(char const*)", "std::string::string(char const*)"},
    {STRING "::~basic_string()", "std::string::~string()"},
    {STRING "::basic_string<char*, void>(char*, char*)", "std::string::string<char*, void>(char*, char*)"},
    {STRING "::_M_append(char const*, unsigned long)", "std::string::_M_append(char const*, unsigned long)"},
    {"std::basic_fstream<char, std::char_traits<char> >", "std::fstream"},
    {"std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >", "std::regex"},

    /* Containers. */
    {"std::vector<int, std::allocator<int> >::push_back(int const&)",
     "std::vector<int>::push_back(int const&)"},
    {"std::vector<" STRING ", std::allocator<" STRING " > >", "std::vector<std::string>"},
    {"std::deque<a::b, std::allocator<a::b> >", "std::deque<a::b>"},
    {"std::__cxx11::list<int, std::allocator<int> >", "std::list<int>"},
    {"std::set<int, std::less<int>, std::allocator<int> >", "std::set<int>"},
    {"std::map<" STRING ", long, std::less<" STRING " >, std::allocator<std::pair<" STRING
     " const, long> > >::operator[](" STRING " const&)",
     "std::map<std::string, long>::operator[](std::string const&)"},
    {"std::multimap<int, int*, std::less<int>, std::allocator<std::pair<int const, int*> > >",
     "std::multimap<int, int*>"},
    {"std::unordered_map<int, std::vector<int, std::allocator<int> >, std::hash<int>, std::equal_to<int>, "
     "std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >",
     "std::unordered_map<int, std::vector<int>>"},
    {"std::unordered_set<char const*, std::hash<char const*>, std::equal_to<char const*>, "
     "std::allocator<char const*> >",
     "std::unordered_set<char const*>"},
    {"std::unique_ptr<node, std::default_delete<node> >::get() const", "std::unique_ptr<node>::get() const"},
    {"std::unique_ptr<int [], std::default_delete<int []> >", "std::unique_ptr<int []>"},
    {"std::queue<int, std::deque<int, std::allocator<int> > >", "std::queue<int>"},
    {"std::stack<int, std::deque<int, std::allocator<int> > >", "std::stack<int>"},
    {"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >",
     "std::priority_queue<int>"},
    {"std::ostream_iterator<int, char, std::char_traits<char> >", "std::ostream_iterator<int>"},

    /* Arguments that are no defaults stay, and so does what stands before them. */
    {"std::vector<int, arena<int> >", "std::vector<int, arena<int>>"},
    {"std::vector<int, std::allocator<long> >", "std::vector<int, std::allocator<long>>"},
    {"std::set<int, std::greater<int>, std::allocator<int> >", "std::set<int, std::greater<int>>"},
    {"std::set<int, std::less<int>, arena<int> >", "std::set<int, std::less<int>, arena<int>>"},
    {"std::map<int, int, std::less<void>, std::allocator<std::pair<int const, int> > >",
     "std::map<int, int, std::less<void>>"},
    {"std::map<int, int, std::less<int>, std::allocator<std::pair<int, int> > >",
     "std::map<int, int, std::less<int>, std::allocator<std::pair<int, int>>>"},
    {"std::unique_ptr<_IO_FILE, int (*)(_IO_FILE*)>", "std::unique_ptr<_IO_FILE, int (*)(_IO_FILE*)>"},
    {"std::queue<int, std::__cxx11::list<int, std::allocator<int> > >", "std::queue<int, std::list<int>>"},
    {"std::__cxx11::basic_string<char, folded, std::allocator<char> >", "std::basic_string<char, folded>"},
    {"std::__cxx11::basic_string<glyph, std::char_traits<glyph>, std::allocator<glyph> >",
     "std::basic_string<glyph>"},
    {"std::vector<int>", "std::vector<int>"},

    /* Others' templates have no defaults that we know, whatever they are called. */
    {"vector<int, std::allocator<int> >", "vector<int, std::allocator<int>>"},
    {"my::std::vector<int, std::allocator<int> >", "my::std::vector<int, std::allocator<int>>"},
    {"mystd::vector<int, std::allocator<int> >", "mystd::vector<int, std::allocator<int>>"},
    {"std::experimental::vector<int, std::allocator<int> >",
     "std::experimental::vector<int, std::allocator<int>>"},
    {"a<int>::std::vector<int, std::allocator<int> >", "a<int>::std::vector<int, std::allocator<int>>"},

    /* Inline namespaces. */
    {"std::chrono::_V2::steady_clock::now()", "std::chrono::steady_clock::now()"},
    {"std::filesystem::__cxx11::path::path()", "std::filesystem::path::path()"},
    {"std::__1::mutex::lock()", "std::mutex::lock()"},
    {"my::__1::mutex::lock()", "my::__1::mutex::lock()"},
    {"std::__detail::_Node_iterator<int, true, false>", "std::__detail::_Node_iterator<int, true, false>"},
    {"ns::name[abi:cxx11](int)", "ns::name(int)"},
    {"ns::name[abi:cxx11][abi:v2]<int>(int)", "ns::name<int>(int)"},
    {"main::argv[3]", "main::argv[3]"},

    /* Brackets that are none. */
    {"a::operator<(a<b<int> > const&)", "a::operator<(a<b<int>> const&)"},
    {"bool operator< <int>(a<b<int> > const&)", "bool operator< <int>(a<b<int>> const&)"},
    {"a::operator>(a<b<int> > const&)", "a::operator>(a<b<int>> const&)"},
    {"a::operator->() const", "a::operator->() const"},
    {"a<b<int> >::operator->*(int)", "a<b<int>>::operator->*(int)"},
    {"a<b<int> >::operator<<(int)", "a<b<int>>::operator<<(int)"},
    {"a<b<int> >::operator>>=(int)", "a<b<int>>::operator>>=(int)"},
    {"a<b<int> >::operator<=>(int)", "a<b<int>>::operator<=>(int)"},
    {"a<b<int> >::operator()(int)", "a<b<int>>::operator()(int)"},
    {"a<b<int> >::operator()<char>(char)", "a<b<int>>::operator()<char>(char)"},
    {"a<b<int> >::operator,(int)", "a<b<int>>::operator,(int)"},
    {"a<b<int> >::operator[](int)", "a<b<int>>::operator[](int)"},
    {"a<b<int> >::operator new[](unsigned long)", "a<b<int>>::operator new[](unsigned long)"},
    {"a::operator " STRING "() const", "a::operator std::string() const"},
    {"a::operator b<c<int> >() const", "a::operator b<c<int>>() const"},
    {"f<&(a::operator>), b<c<int> > >", "f<&(a::operator>), b<c<int>>>"},
    {"f<&a::operator> >(b<c<int> >)", "f<&a::operator> >(b<c<int>>)"},
    {"f<((1)>(2)), b<c<int> > >", "f<((1)>(2)), b<c<int>>>"},
    {"std::enable_if<((sizeof (a))<=(8)), b<c<int> > >::type f<a>(a)",
     "std::enable_if<((sizeof (a))<=(8)), b<c<int>>>::type f<a>(a)"},
    {"decltype ((a)->b) f<c<int> >()", "decltype ((a)->b) f<c<int>>()"},

    /* Lambdas and what has no name. */
    {"main::{lambda(std::vector<int, std::allocator<int> >&)#1}::operator()(std::vector<int, "
     "std::allocator<int> >&) const",
     "main::{lambda(std::vector<int>&)#1}::operator()(std::vector<int>&) const"},
    {"void f<main::{lambda(int)#1}>(main::{lambda(int)#1})",
     "void f<main::{lambda(int)#1}>(main::{lambda(int)#1})"},
    {"(anonymous namespace)::a<b<int> >::f()", "(anonymous namespace)::a<b<int>>::f()"},
    {"f()::'lambda'(std::vector<int, std::allocator<int>>)::operator()(int) const",
     "f()::'lambda'(std::vector<int>)::operator()(int) const"},
    {"void a<int (*)(b<c<int> >)>::f(int (*)(b<c<int> >)) [clone .cold]",
     "void a<int (*)(b<c<int>>)>::f(int (*)(b<c<int>>)) [clone .cold]"},

    /* DWARF's form has no blanks; and C. */
    {"std::vector<int,std::allocator<int> >", "std::vector<int>"},
    {"a<b,c<d> >", "a<b,c<d>>"},
    {"", ""},
    {"main", "main"},
    {"table[3].n", "table[3].n"},
    {"std::tuple<>", "std::tuple<>"},

    /* Not names: as they are. */
    {"a<b<int> ", "a<b<int> "},
    {"a<b<int> > >", "a<b<int> > >"},
    {"a<b<(int> > >", "a<b<(int> > >"},
    {"a<b<int)> >", "a<b<int)> >"},
    {"<lambda(a<b<int> >)>", "<lambda(a<b<int> >)>"},
    {"std::vector<", "std::vector<"},
    {"std::vector<,,,,,,,,> ", "std::vector<,,,,,,,,> "},
    {"std::basic_string<", "std::basic_string<"},
    {"std::__cxx11::", "std::"},
    {"std::__cxx11::__cxx11::__1::", "std::"},
    {"std::vector<int, std::allocator<int> >]", "std::vector<int, std::allocator<int> >]"},
    {"f[abi:", "f[abi:"},
    {"std::basic_string<char>::basic_string", "std::string::string"},
    {"operator", "operator"},
    {"operator<", "operator<"},
    {"std::operator", "std::operator"},
};

static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(cases); i++) {
        const char *got = dh_symbol_shorten(&arena, cases[i].full);
        if (strcmp(got, cases[i].brief) != 0)
            fail_msg("'%s' became '%s', not '%s'", cases[i].full, got, cases[i].brief);
        if (strcmp(cases[i].full, cases[i].brief) == 0)
            assert_ptr_equal(got, cases[i].full);
        assert_string_equal(dh_symbol_shorten(&arena, got), got);
    }
}

/* Long, and nested beyond any stack. */
static void large(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    static const char *const pieces[] = {
        "a<", "std::vector<", "(",  "[abi:",     "std::basic_string<char>::", "operator<",
        ">",  "b<c<d> >",     "->", "std::__1::"};
    char *text = malloc(SIZE + 1);
    for (size_t i = 0; i < DH_ARRAY_LEN(pieces); i++) {
        size_t len = strlen(pieces[i]);
        for (size_t at = 0; at < SIZE; at++)
            text[at] = pieces[i][at % len];
        text[SIZE] = 0;
        assert_true(strlen(dh_symbol_shorten(&arena, text)) <= SIZE);
        memset(text + SIZE / 2, '>', SIZE / 2);
        assert_true(strlen(dh_symbol_shorten(&arena, text)) <= SIZE);
    }
    free(text);
}

/* Any bytes. What comes out is no longer, and the sanitizers of tests/fuzz have nothing to say either. */
static void garbage(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "std::", "vector",    "basic_string", "<",   ">",         " >",       ", ", ",",
        "char",  "::",        "operator",     "(",   ")",         "[abi:",    "]",  "{",
        "}",     "->",        "__cxx11",      "~",   "allocator", "\xc3\xa4", " ",  "less",
        "map",   "basic_ios", "char_traits",  "int", "#1",        "'"};
    u32 seed = 4711;
    for (int round = 0; round < 100000; round++) {
        char text[256] = "";
        size_t len = 0;
        for (int i = 0; i < 24; i++) {
            seed = seed * 1664525 + 1013904223;
            const char *piece = pieces[(seed >> 16) % DH_ARRAY_LEN(pieces)];
            memcpy(text + len, piece, strlen(piece) + 1);
            len += strlen(piece);
        }
        char *exact = strdup(text); /* so that reading behind it shows */
        struct dh_arena own = {0};
        assert_true(strlen(dh_symbol_shorten(&own, exact)) <= len);
        dh_arena_done(&own);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(large),
        cmocka_unit_test(garbage),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dh_arena_done(&arena);
    return failed;
}
