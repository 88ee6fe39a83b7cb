# find_package(deadheat): what a CMake project may use.
#
#   DEADHEAT_EXECUTABLE   the program
#   deadheat::headers     to link with, for <deadheat/lard.h> and other annotations with any compiler
#
#   deadheat_instrument(TARGET... [OPTIONS --dh-...])
#
# compiles and links these targets with `deadheat cc` and `deadheat c++` in place of the project's compilers, which
# all other targets keep. The compiler of a project is one for all targets, so the driver stands in front of it as a
# launcher and runs in its place (--dh-launch). A program must be instrumented if a library in it is: the runtime is linked
# into programs. OPTIONS are further options of the driver.

get_filename_component(deadheat_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(deadheat_prefix "${deadheat_prefix}/../../.." ABSOLUTE)
set(DEADHEAT_EXECUTABLE "${deadheat_prefix}/bin/deadheat")
if(NOT EXISTS "${DEADHEAT_EXECUTABLE}" OR NOT EXISTS "${deadheat_prefix}/include/deadheat/lard.h")
  set(deadheat_FOUND FALSE)
  set(deadheat_NOT_FOUND_MESSAGE "${deadheat_prefix} lacks bin/deadheat or include/deadheat")
  return()
endif()

if(NOT TARGET deadheat::headers)
  add_library(deadheat::headers INTERFACE IMPORTED)
  set_target_properties(deadheat::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${deadheat_prefix}/include")
endif()

function(deadheat_instrument)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "OPTIONS")
  if(NOT CMAKE_GENERATOR MATCHES "Makefiles|Ninja")
    message(FATAL_ERROR "deadheat_instrument: the generator '${CMAKE_GENERATOR}' knows no launchers; use Ninja or Makefiles")
  endif()
  if(CMAKE_VERSION VERSION_LESS 3.21)
    message(FATAL_ERROR "deadheat_instrument needs CMake 3.21, which knows launchers of linkers")
  endif()
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    if(NOT TARGET "${target}")
      message(FATAL_ERROR "deadheat_instrument: there is no target '${target}'")
    endif()
    get_target_property(type "${target}" TYPE)
    get_target_property(imported "${target}" IMPORTED)
    if(imported OR NOT type MATCHES "EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY")
      message(FATAL_ERROR "deadheat_instrument: nothing of the target '${target}' is compiled")
    endif()
    set(c "${DEADHEAT_EXECUTABLE}" cc ${arg_OPTIONS} --dh-launch)
    set(cxx "${DEADHEAT_EXECUTABLE}" c++ ${arg_OPTIONS} --dh-launch)
    # Precompiled headers of one compiler are of no use to another.
    set_target_properties("${target}" PROPERTIES
      C_COMPILER_LAUNCHER "${c}" C_LINKER_LAUNCHER "${c}"
      CXX_COMPILER_LAUNCHER "${cxx}" CXX_LINKER_LAUNCHER "${cxx}"
      DISABLE_PRECOMPILE_HEADERS ON)
    target_compile_options("${target}" PRIVATE -g)
  endforeach()
endfunction()
