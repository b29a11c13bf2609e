// For tests: reads and writes whole files and trees through the file seam.
//
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>

#include "base/assert.h"
#include "storage/storage.h"

namespace tarry::embedded::test {

inline std::string read_all(storage::Directory& directory, std::string_view name) {
  auto file = directory.open(name, storage::OpenMode::read_only);
  TARRY_ASSERT(file.has_value());
  std::string bytes((*file)->size().value(), '\0');
  TARRY_ASSERT((*file)->read_at(0, bytes).value() == bytes.size());
  return bytes;
}

/// Makes the file, or replaces its contents.
inline void write_all(storage::Directory& directory, std::string_view name,
                      std::string_view bytes) {
  auto file = directory.open(name, storage::OpenMode::read_write);
  if (!file) file = directory.open(name, storage::OpenMode::create_new);
  TARRY_ASSERT(file.has_value());
  TARRY_ASSERT((*file)->truncate(bytes.size()).has_value());
  TARRY_ASSERT((*file)->write_at(0, bytes).has_value());
}

inline bool has(storage::Directory& directory, std::string_view name) {
  return directory.open(name, storage::OpenMode::read_only).has_value();
}

inline void copy_tree(storage::Directory& from, storage::Directory& to) {
  const auto names = from.list();
  TARRY_ASSERT(names.has_value());
  for (const std::string& name : *names) {
    if (has(from, name)) {
      write_all(to, name, read_all(from, name));
    } else {
      copy_tree(*from.subdirectory(name, false).value(), *to.subdirectory(name, true).value());
    }
  }
}

}  // namespace tarry::embedded::test
