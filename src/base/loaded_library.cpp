#include "base/loaded_library.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace tarry::base {
namespace {

bool is_loaded(const LoadedLibrary& library) {
  for (const LoadedSymbol& symbol : library.symbols) {
    if (symbol.size == 0) return *static_cast<void**>(symbol.place) != nullptr;
  }
  return false;
}

}  // namespace

Result<void> load(const LoadedLibrary& library) {
  if (library.file == nullptr) return {};
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (is_loaded(library)) return {};
  void* const handle = ::dlopen(library.file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return Unexpected(ErrorCode::unsupported, std::string("needs the library ") + library.file +
                                                  ", of the package " + library.packages + ": " +
                                                  (reason != nullptr ? reason : "no reason"));
  }
  std::vector<void*> found;
  for (const LoadedSymbol& symbol : library.symbols) {
    found.push_back(::dlsym(handle, symbol.name));
    if (found.back() != nullptr) continue;
    ::dlclose(handle);
    return Unexpected(ErrorCode::unsupported, std::string("needs a newer ") + library.file +
                                                  ": this one has no " + symbol.name);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const LoadedSymbol& symbol = library.symbols[i];
    if (symbol.size == 0) {
      *static_cast<void**>(symbol.place) = found[i];
    } else {
      std::memcpy(symbol.place, found[i], symbol.size);
    }
  }
  return {};
}

}  // namespace tarry::base
