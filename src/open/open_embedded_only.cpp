// tarry::open with memory: and file: only: the composition root of tarry::embedded.
#include <utility>

#include <tarry/store.h>

#include "open/open_with.h"

namespace tarry {

Result<Store> open(std::string_view url, OpenOptions options) {
  return detail::open_with(url, std::move(options), nullptr);
}

}  // namespace tarry
