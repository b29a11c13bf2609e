# What we need from outside. Debian 12 has all of it: scripts/setup installs it.

find_package(Threads REQUIRED)

# xxHash is used header-only (XXH_INLINE_ALL), so nothing is linked.
find_path(TARRY_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

if(NOT TARRY_EMBEDDED_ONLY)
  find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS json)
  find_package(OpenSSL REQUIRED)
  include(TarryHiredis)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(fmt CONFIG REQUIRED)
  find_package(spdlog CONFIG REQUIRED)
  # toml++ is used header-only, so nothing is linked.
  find_path(TARRY_TOML_INCLUDE_DIR toml++/toml.h REQUIRED)
endif()

# TARRY_TESTS: the decision that TARRY_BUILD_TESTS asks for.
set(TARRY_TESTS OFF)
if(TARRY_BUILD_TESTS STREQUAL "AUTO")
  if(PROJECT_IS_TOP_LEVEL AND NOT TARRY_EMBEDDED_ONLY)
    find_package(GTest CONFIG QUIET)
    find_package(rapidcheck CONFIG QUIET)
    if(GTest_FOUND AND rapidcheck_FOUND)
      set(TARRY_TESTS ON)
    else()
      message(STATUS "Tests off: GoogleTest or rapidcheck not found (scripts/setup test)")
    endif()
  endif()
elseif(TARRY_BUILD_TESTS)
  if(TARRY_EMBEDDED_ONLY)
    message(FATAL_ERROR "TARRY_BUILD_TESTS=ON needs everything: set TARRY_EMBEDDED_ONLY=OFF")
  endif()
  find_package(GTest CONFIG REQUIRED)
  find_package(rapidcheck CONFIG REQUIRED)
  set(TARRY_TESTS ON)
endif()
if(TARRY_TESTS)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  include(GoogleTest)
endif()
