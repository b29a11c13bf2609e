#include "engines/rabbitmq/refusals.h"

#include <string>
#include <string_view>
#include <variant>

#include "core/rules/expiry.h"
#include "core/settings/settings_table.h"

namespace tarry::rabbitmq {
namespace {

Error cannot(std::string_view what) {
  return {ErrorCode::unsupported, "rabbitmq cannot " + std::string(what)};
}

constexpr std::string_view kNotByKey = ": no message can be found by its key in a queue of AMQP";

struct Refusal {
  using Answer = std::optional<Error>;
  template <typename Supported>
  Answer operator()(const Supported&) const {
    return std::nullopt;
  }
  Answer operator()(const core::CancelRequest&) const {
    return cannot("cancel" + std::string(kNotByKey));
  }
  Answer operator()(const core::RescheduleRequest&) const {
    return cannot("reschedule" + std::string(kNotByKey));
  }
  Answer operator()(const core::GetRequest&) const {
    return cannot("get" + std::string(kNotByKey));
  }
  Answer operator()(const core::ExtendRequest&) const {
    return cannot("extend a lease: a claim lasts until it is settled or its connection ends");
  }
  Answer operator()(const core::ClaimRequest& claim) const {
    if (!claim.keys.empty()) return cannot("claim by key" + std::string(kNotByKey));
    if (claim.lease) {
      return cannot("claim for a lease: a claim lasts until it is settled or its connection ends");
    }
    return std::nullopt;
  }
  Answer operator()(const core::ListRequest& list) const {
    if (list.state == State::dead) return std::nullopt;
    return cannot("list what is not dead: give the state dead");
  }
  Answer operator()(const core::ForecastRequest&) const {
    return cannot("forecast: the rungs of the ladder are shared by all queues");
  }
  Answer operator()(const core::ConfigureRequest& configure) const {
    if (core::apply(configure.patch, QueueSettings()) == QueueSettings()) return std::nullopt;
    return cannot("keep settings: give them with each push; all others have their defaults");
  }
  Answer operator()(const core::PauseRequest&) const {
    return cannot("pause: the broker hands out what is due");
  }
  Answer operator()(const core::MoveRequest&) const {
    return cannot("take messages moved from another store: push them");
  }
  Answer operator()(const core::ReshardRequest&) const { return cannot("be resharded"); }
  Answer operator()(const core::RemoveRequest&) const {
    return cannot(
        "remove a queue: messages on the ladder would find it gone; purge it, and delete it in the "
        "broker once nothing is on its way");
  }
};

}  // namespace

std::optional<Error> refusal_of(const core::Request& request) {
  return std::visit(Refusal(), request);
}

std::optional<Error> refusal_of(const core::PushItem& item) {
  if (item.if_exists) {
    return cannot("look whether a key exists: push without if_exists; a key is a label here");
  }
  if (item.priority != kDefaultPriority) {
    return cannot("keep priorities: push without one");
  }
  return core::refuse_expiry("rabbitmq", item);
}

}  // namespace tarry::rabbitmq
