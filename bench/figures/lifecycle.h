// Lifecycles: messages are pushed, claimed when due, and settled, as fast as a design can.
#pragma once

#include <cstddef>
#include <cstdint>

#include "designs/design.h"

namespace tarry::bench {

struct Lifecycle {
  std::size_t messages = 100'000;
  std::size_t batch = 256;
  std::size_t clients = 1;     // threads; each pushes a batch, claims due messages, settles them
  std::size_t payload = 100;   // bytes
  std::int64_t delay_ms = 20;  // due times are spread over this time from now
};

/// Messages a second, from the first push to the last settle.
[[nodiscard]] double lifecycles_per_second(Design& design, const Lifecycle& shape);

}  // namespace tarry::bench
