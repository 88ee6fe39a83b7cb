# Sourced by run.sh: the compiler checks of autoconf-style scripts, CMake and Meson.

# What ./configure does: does the compiler work, what is the suffix, is a function there, is a flag accepted.
configure_style() {
    mkdir -p conf && cd conf || return 1
    echo 'int main(void) { return 0; }' > conftest.c
    "$cc" conftest.c 2> log && test -x a.out && ./a.out || return 1
    "$cc" -c conftest.c 2>> log && test -f conftest.o || return 1
    printf 'char cosh(); int main(void) { return cosh(); }\n' > conftest.c
    "$cc" -o conftest -g -O2 conftest.c -lm 2> /dev/null || return 1
    printf 'char no_such_function(); int main(void) { return no_such_function(); }\n' > conftest.c
    ! "$cc" -o conftest -g -O2 conftest.c 2> /dev/null || return 1
    printf '#include <no_such_header.h>\n' > conftest.c
    ! "$cc" -E conftest.c > /dev/null 2>&1 || return 1
    printf 'int x[1 - 2 * !(sizeof(long) == 8)];\n' > conftest.c
    "$cc" -c -Werror -Wall conftest.c 2>> log || return 1
    ! "$cc" -c -Werror=unknown-warning-option -Wno-such-warning conftest.c 2> /dev/null || return 1
    cat log
    test ! -s log
}
configure_here() { (configure_style); }
case_ configure-style configure_here

write_project() {
    mkdir -p "$1"
    cp a.c b.c lib.c uselib.c throws.cpp "$1"
}

cmake_project() {
    write_project cm
    cat > cm/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(t C CXX)
include(CheckFunctionExists)
include(CheckCCompilerFlag)
include(CheckIPOSupported)
check_ipo_supported(OUTPUT why)
check_function_exists(printf HAVE_PRINTF)
check_function_exists(no_such_function HAVE_NO_SUCH)
check_c_compiler_flag(-Wall HAVE_WALL)
find_package(Threads REQUIRED)
if(NOT HAVE_PRINTF OR HAVE_NO_SUCH OR NOT HAVE_WALL OR NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "checks")
endif()
add_library(bump SHARED lib.c)
add_executable(uselib uselib.c)
target_link_libraries(uselib bump)
add_library(archived STATIC lib.c)
add_executable(lto uselib.c)
target_link_libraries(lto archived)
set_property(TARGET archived lto PROPERTY INTERPROCEDURAL_OPTIMIZATION TRUE)
add_executable(throws throws.cpp)
target_link_libraries(throws Threads::Threads)
END
    { CC=$cc CXX=$cxx cmake -S cm -B cm/build && cmake --build cm/build; } > cm/log 2>&1 || { tail -1 cm/log; return 1; }
    if grep -i 'warning' cm/log; then return 1; fi
    ./cm/build/uselib && ./cm/build/lto && ./cm/build/throws
}
if command -v cmake > /dev/null; then case_ cmake cmake_project; fi

meson_project() {
    write_project me
    cat > me/meson.build <<'END'
project('t', 'c', 'cpp', default_options: ['warning_level=3', 'werror=true'])
cc = meson.get_compiler('c')
assert(cc.get_id() == 'clang')
assert(cc.has_function('printf') and not cc.has_function('no_such_function'))
assert(cc.has_argument('-Wall') and not cc.has_argument('-Wno-such-warning'))
assert(cc.sizeof('long') == 8 and cc.has_header('stdio.h'))
bump = shared_library('bump', 'lib.c')
executable('uselib', 'uselib.c', link_with: bump)
executable('throws', 'throws.cpp', dependencies: dependency('threads'))
END
    { CC=$cc CXX=$cxx meson setup me/build me && ninja -C me/build; } > me/log 2>&1 || { tail -3 me/log; return 1; }
    ./me/build/uselib && ./me/build/throws
}
if command -v meson > /dev/null; then case_ meson meson_project; fi

makefile_project() {
    write_project mk
    printf 'uselib: uselib.o lib.o\nuselib.o: uselib.c\nlib.o: lib.c\n' > mk/Makefile
    make -s -C mk CC="$cc" CFLAGS='-O2 -g' > mk/log 2>&1 && test ! -s mk/log && ./mk/uselib
}
if command -v make > /dev/null; then case_ make makefile_project; fi
