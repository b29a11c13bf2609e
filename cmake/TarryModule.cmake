# tarry_module(<name> [OUTER] [DEPS <module>...] [LIBS <target>...] [DEFINES <NAME=value>...]
#              [PCH <header>...] [SOURCES <file>...] [EXCLUDE <file>...] [TEST_LIBS <target>...]
#              [ONE_PROCESS] [SHARES] [ONE_THREAD])
#
# One folder of src/: the static library tarry_<name> from every *.cpp at or below it, but
# *_test.cpp and main.cpp; and, with tests on, tarry_<name>_test from every *_test.cpp.
# DEPS are the arrows: the modules that this one may include. LIBS are from outside.
# PCH are headers from outside that are dear to parse. SOURCES names the files instead of looking
# for them (and makes no tests); EXCLUDE leaves some out. TEST_LIBS are what its tests need besides.
# OUTER: under a sanitizer compiled by tarry_compile_outer. The last three: as of tarry_gtest.

function(tarry_module name)
  set(of_tests ONE_PROCESS SHARES ONE_THREAD)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OUTER;${of_tests}" ""
                        "DEPS;LIBS;DEFINES;PCH;SOURCES;EXCLUDE;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tarry_module(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(tests "")
  if(arg_SOURCES)
    set(sources ${arg_SOURCES})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
         ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "(_test|^main)\\.cpp$")
    if(arg_EXCLUDE)
      list(REMOVE_ITEM sources ${arg_EXCLUDE})
    endif()
  endif()

  set(compile tarry_compile)
  if(arg_OUTER AND TARRY_SANITIZE)
    set(compile tarry_compile_outer)
  endif()

  set(target tarry_${name})
  list(TRANSFORM arg_DEPS PREPEND tarry_ OUTPUT_VARIABLE deps)
  if(sources)
    add_library(${target} STATIC ${sources})
    cmake_language(CALL ${compile} ${target})
    # lib/ is for what is installed; libtarry_embedded.a would otherwise be two files.
    set_target_properties(${target} PROPERTIES
                          ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
    target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
    tarry_fuzzed(${target})
    if(arg_PCH OR arg_DEFINES)
      tarry_pch(${target} ${TARRY_STD_HEADERS} ${arg_PCH})
    else()
      tarry_std_pch(${target} ${compile})
    endif()
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/include
                                                ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM ${scope} ${TARRY_XXHASH_INCLUDE_DIR})
  target_link_libraries(${target} ${scope} ${deps} ${arg_LIBS} Threads::Threads)

  if(TARRY_TESTS AND tests)
    set(options "")
    foreach(option IN LISTS of_tests)
      if(arg_${option})
        list(APPEND options ${option})
      endif()
    endforeach()
    tarry_gtest(${target}_test LABEL unit ${options} SOURCES ${tests}
                LIBS ${target} ${arg_TEST_LIBS} DEFINES ${arg_DEFINES} PCH ${arg_PCH})
  endif()
endfunction()

# Coverage that guides the fuzzers. The sanitizer's runtime knows it, so tests link as before.
function(tarry_fuzzed target)
  if(TARRY_FUZZ AND TARRY_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# tarry_pch(<target> [<header>...]): precompiles headers from outside, where that is wanted.
function(tarry_pch target)
  if(TARRY_PCH AND ARGN)
    list(TRANSFORM ARGN REPLACE "^(.+)$" "<\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# What nearly every file of ours includes, and half of what it costs to compile.
set(TARRY_STD_HEADERS algorithm array atomic chrono cstdint deque functional map memory mutex
                      optional random set string string_view thread unordered_map utility variant
                      vector)

# tarry_std_pch(<target> <compile function>): the standard library, parsed once for all libraries
# that are compiled by that function and add no flag of their own.
function(tarry_std_pch target compile)
  if(NOT TARRY_PCH)
    return()
  endif()
  string(REPLACE tarry_compile tarry_std_pch pch ${compile})
  if(NOT TARGET ${pch})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/std_pch.cpp CONTENT "")
    add_library(${pch} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/std_pch.cpp)
    cmake_language(CALL ${compile} ${pch})
    tarry_fuzzed(${pch})
    target_link_libraries(${pch} PRIVATE Threads::Threads)
    tarry_pch(${pch} ${TARRY_STD_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# tarry_gtest(<target> LABEL <label> SOURCES <file>... [LIBS <target>...] [DEFINES <NAME=value>...]
#             [PCH <header>...] [TIMEOUT <seconds>] [SERIAL] [ONE_PROCESS] [SHARES] [ONE_THREAD])
#
# One GoogleTest program, each of its tests registered as <label>.<suite>.<test>; under a sanitizer,
# and if its label is contract, its shares as <label>.<target>.<n>of<m>.
# SHARES: so in every build, because its tests share a server that takes some time to start.
# ONE_PROCESS: one share, because they share one that takes long.
# ONE_THREAD: ThreadSanitizer would have nothing to see, so its build leaves the program out.
function(tarry_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;ONE_PROCESS;SHARES;ONE_THREAD" "LABEL;TIMEOUT"
                        "SOURCES;LIBS;DEFINES;PCH")
  if(arg_ONE_THREAD AND TARRY_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${target} ${arg_SOURCES})
  tarry_compile_test(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest_main rapidcheck
                                          rapidcheck_gtest)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TARRY_PCH)
    if(arg_PCH)
      tarry_pch(${target} gtest/gtest.h rapidcheck.h rapidcheck/gtest.h ${arg_PCH})
    else()
      target_precompile_headers(${target} REUSE_FROM tarry_test_pch)
    endif()
  endif()
  if(arg_LABEL MATCHES "^(unit|contract)$")
    tarry_sanitized(${target})
  endif()
  set(serial "")
  if(arg_SERIAL)
    set(serial RUN_SERIAL ON)
  endif()
  list(LENGTH arg_SOURCES files)
  if(arg_ONE_PROCESS)
    tarry_shards(${target} ${arg_LABEL} 0)
  elseif(TARRY_SANITIZE)
    tarry_left_out(filter)
    tarry_shards(${target} ${arg_LABEL} ${files} RC_PARAMS=max_success=8 GTEST_FILTER=${filter})
  elseif(arg_SHARES OR arg_LABEL STREQUAL "contract")
    tarry_shards(${target} ${arg_LABEL} ${files})
  else()
    # PRE_TEST: listing tests on a busy machine can outlast a build step's limit.
    gtest_discover_tests(${target} TEST_PREFIX ${arg_LABEL}. NO_PRETTY_VALUES
                         DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
                         PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${serial})
  endif()
endfunction()

# tarry_left_out(<variable>): GoogleTest's filter of what is not run under a sanitizer.
function(tarry_left_out variable)
  # Of HTTP before Redis both halves are run anyway, and so are the threads and the code of Redis
  # with Sentinels and with four shards: as `redis` and as `cluster`. What stops scripts is in the
  # Redis server, which no sanitizer sees; the same goes for its rights, for its thousands of queues
  # at rest, and for a broker's certificates. Many megabytes as JSON cost seconds and say no more.
  set(names *http_redis* */https* */sentinel* */redis4* *64MiB*/http *BytesOfAGet/http
            *StoppedScriptsTest* *StoppedLayouts* *.StoppedBehindEachCall* RedisAcl.* ManyQueues.*
            RabbitSink.ABrokerThatAsksForACertificateIsShownOne)
  if(TARRY_SANITIZE STREQUAL "thread")
    # Tests of one thread, which are most of the embedded engine's time.
    list(APPEND names FullDisk.* SalvageOfDamage.* FlippedByte.* CutFile.* RecoveryTable.*
                      StoreFiles.* Migration.* LayoutMigration.* Sizing.*)
  endif()
  list(JOIN names ":" joined)
  set(${variable} "-${joined}" PARENT_SCOPE)
endfunction()

# tarry_sanitized(<target>): one of the programs that the sanitizer builds are for.
function(tarry_sanitized target)
  if(NOT TARGET tarry_sanitized_tests)
    add_custom_target(tarry_sanitized_tests)
  endif()
  add_dependencies(tarry_sanitized_tests ${target})
endfunction()

# tarry_shards(<target> <label> <files> [<environment>...]): a few processes, each with its share
# of the program's tests. For where a process for each test costs more than the test: under a
# sanitizer, and for the contract suite's many small ones.
function(tarry_shards target label files)
  math(EXPR shards "1 + ${files} / 4")
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${label}.${target}.${shard}of${shards} COMMAND ${target})
    set_tests_properties(${label}.${target}.${shard}of${shards} PROPERTIES
      LABELS ${label} TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index};GTEST_BRIEF=1;${ARGN}")
  endforeach()
endfunction()

# GoogleTest and rapidcheck, parsed once for all test programs. A program rather than a library,
# because -fPIE and -fPIC cannot share a precompiled header.
if(TARRY_TESTS AND TARRY_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cpp CONTENT "int main() {}\n")
  add_executable(tarry_test_pch EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_pch.cpp)
  tarry_compile_test(tarry_test_pch)
  target_link_libraries(tarry_test_pch PRIVATE GTest::gtest_main rapidcheck rapidcheck_gtest)
  set_target_properties(tarry_test_pch PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
  target_precompile_headers(tarry_test_pch PRIVATE <gtest/gtest.h> <rapidcheck.h>
                                                   <rapidcheck/gtest.h>)
endif()
