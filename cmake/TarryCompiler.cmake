# How everything of ours is compiled: the language, warnings, sanitizers, ccache.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.2)
  message(FATAL_ERROR "tarry needs g++ 12.2 or newer; this is ${CMAKE_CXX_COMPILER_VERSION}")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  # The default -O3 buys nothing measurable here and costs build time.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  # Sanitizers: fast enough to run everything, with lines in the stacks.
  set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

# A user may link libtarry.a into a shared library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# In what is shipped no path names the machine that built it. (Elsewhere debuggers and the counting
# of coverage find the source by it.)
add_compile_options(
  "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")

if(TARRY_SANITIZE STREQUAL "address")
  # Not vptr: it looks at memory through a pipe, and finds fault where descriptors are short.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(TARRY_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT TARRY_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TARRY_SANITIZE=${TARRY_SANITIZE}: must be empty, address or thread")
endif()

# Some 40 large programs are linked then. lld takes a quarter of the default linker's time.
if(NOT TARRY_SANITIZE STREQUAL "" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  cmake_path(GET CMAKE_CXX_COMPILER FILENAME compiler)
  string(REPLACE "clang++" "ld.lld" lld ${compiler})
  find_program(TARRY_LLD ${lld})
  if(TARRY_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(TARRY_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "TARRY_FUZZ needs clang's libFuzzer; this is ${CMAKE_CXX_COMPILER_ID}")
endif()

# What is published is compiled without a cache: one with a base directory writes paths of sources
# in another way, and two builds of a commit would differ.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT TARRY_PORTABLE)
  find_program(TARRY_CCACHE ccache)
  if(TARRY_CCACHE)
    # Without these ccache takes every file that uses a precompiled header for uncacheable.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${TARRY_CCACHE})
    if(TARRY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-fpch-preprocess)
    elseif(TARRY_PCH AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endif()

set(TARRY_WARNINGS -Wall -Wextra -Wpedantic -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about std::string's own insides (GCC bugs 105329, 105651); ASan watches this for us.
  list(APPEND TARRY_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                             -Wno-stringop-overread)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Wrong about the alternatives of a std::variant that is moved, and about an insert of moved
  # elements (g++ 13 and 14); g++ 12, clang and the sanitizers watch these for us.
  list(APPEND TARRY_WARNINGS -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
if(TARRY_WERROR)
  list(APPEND TARRY_WARNINGS -Werror)
endif()

# What every target of ours, library, program or test, is compiled with.
function(tarry_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${TARRY_WARNINGS})
endfunction()

# For libraries that wait for sockets or people, not for the processor. Under a sanitizer they are
# not optimised: they then take half the time to compile. Of UBSan's checks those of each pointer
# are left out, a fifth of what remains: ASan finds null pointers too.
function(tarry_compile_outer target)
  tarry_compile(${target})
  target_compile_options(${target} PRIVATE -O0)
  if(TARRY_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment)
  endif()
endfunction()

# For test programs. To optimise the code that GoogleTest and rapidcheck expand to, to check it and
# to give it line numbers takes more time than it saves. The libraries under test have all three;
# docs/decisions/0002 has the figures.
function(tarry_compile_test target)
  tarry_compile(${target})
  target_compile_options(${target} PRIVATE -O0)
  if(TARRY_SANITIZE)
    target_compile_options(${target} PRIVATE -g0)
  endif()
  if(TARRY_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE
      -fno-sanitize=undefined "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
  endif()
endfunction()
