#include "engines/rabbitmq/ladder/broker.h"

#include <utility>

#include "base/text/text.h"

namespace tarry::rabbitmq {
namespace {

using Version = std::pair<std::uint64_t, std::uint64_t>;

// The lowest version that tests run on, and the version that brought at-least-once dead-lettering.
constexpr Version kLeast{3, 8};
constexpr Version kSafe{3, 10};

}  // namespace

Result<Broker> broker_of(std::string_view version, Queues wanted) {
  const std::size_t dot = version.find('.');
  const std::string_view rest = dot == std::string_view::npos ? "" : version.substr(dot + 1);
  const auto major = base::parse_u64(version.substr(0, dot), "version", 0, 1'000);
  const auto minor = base::parse_u64(rest.substr(0, rest.find('.')), "version", 0, 1'000);
  if (!major || !minor) {
    return Error{ErrorCode::unavailable,
                 "the broker gives " + base::quoted(version) + " as its version, which is none"};
  }
  const Version is{*major, *minor};
  if (is < kLeast) {
    return Error{ErrorCode::unsupported,
                 "the broker is RabbitMQ " + std::string(version) + "; a store needs 3.8 or later"};
  }
  if (wanted == Queues::quorum && is < kSafe) {
    return Error{ErrorCode::unsupported, "the broker is RabbitMQ " + std::string(version) +
                                             "; queues=quorum needs 3.10 or later"};
  }
  return Broker{std::string(version), wanted != Queues::classic && is >= kSafe};
}

}  // namespace tarry::rabbitmq
