// A slab for the tests of the wheel: its nodes are in a vector.
#pragma once

#include <cstdint>
#include <vector>

#include "base/prefetch.h"

namespace tarry::timing::test {

using Handle = std::uint32_t;

struct Node {
  Handle next = 0;
  Handle prev = 0;
  std::int64_t deadline = 0;
};

struct Slab {
  std::vector<Node>* nodes;
  Handle& next(Handle handle) { return (*nodes)[handle].next; }
  Handle& prev(Handle handle) { return (*nodes)[handle].prev; }
  std::int64_t deadline(Handle handle) const { return (*nodes)[handle].deadline; }
  void prefetch(Handle handle) const { base::prefetch_line(&(*nodes)[handle]); }
};

}  // namespace tarry::timing::test
