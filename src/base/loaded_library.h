// LoadedLibrary: a C library from outside that a portable build of the program loads when it is
// first needed, instead of being linked with it. So the program also starts where the library is
// missing. cmake/TarryLoaded.cmake writes the value, and a stub for each function; the code that
// calls the functions is the same in every build.
//
// Thread safety: `load` may be called from any thread.
//
// Invariants:
//   1. A stub is called only after `load` has succeeded; before that, its place is null.
//   2. Either every symbol of a library is there, or none.
#pragma once

#include <cstddef>
#include <span>

#include <tarry/result.h>

namespace tarry::base {

struct LoadedSymbol {
  const char* name;
  void* place;       // of a function: where its stub finds its address; of data: the copy of it
  std::size_t size;  // of data, in bytes; 0: a function
};

struct LoadedLibrary {
  const char* file = nullptr;      // "librabbitmq.so.4"; null: this build is linked with it
  const char* packages = nullptr;  // what to install: "librabbitmq4 (Debian)"
  std::span<const LoadedSymbol> symbols = {};
};

/// Loads the library, unless it is loaded or linked already. It stays loaded. Errors:
/// `unsupported`, which names the file, and the package to install or the function that is missing.
[[nodiscard]] Result<void> load(const LoadedLibrary& library);

}  // namespace tarry::base
