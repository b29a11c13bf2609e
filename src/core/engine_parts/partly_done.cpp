#include "core/engine_parts/partly_done.h"

#include <utility>

namespace tarry::core {

Error partly_done(std::string_view verb, std::string_view queue, std::string_view so_far,
                  const Error& why) {
  std::string message(verb);
  message += " of queue ";
  message += queue;
  message += " is done in part (";
  message += so_far;
  message += "), and the same request again does the rest: ";
  message += why.message;
  return {ErrorCode::unknown_outcome, std::move(message)};
}

std::string messages_so_far(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " message" : " messages");
}

std::string shards_so_far(std::size_t done, std::size_t all) {
  return "on " + std::to_string(done) + " of its " + std::to_string(all) + " shards";
}

void keep_less_certain(Error& kept, Error other) {
  if (other.code == ErrorCode::unknown_outcome && kept.code != ErrorCode::unknown_outcome) {
    kept = std::move(other);
  }
}

}  // namespace tarry::core
