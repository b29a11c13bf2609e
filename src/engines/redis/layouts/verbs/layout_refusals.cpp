// Requests for which the layouts' keys have no place.
#include <type_traits>

#include "base/text/text.h"
#include "core/settings/queue_limits.h"
#include "core/settings/settings_table.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"

namespace tarry::redis {
namespace {

std::optional<Error> refuse_settings(Layout layout, const SettingsPatch& patch) {
  if (core::apply(patch, QueueSettings()) == QueueSettings()) return std::nullopt;
  return unsupported_by(
      layout, "keep settings: give them with each push or claim; all others have their defaults");
}

}  // namespace

Error unsupported_by(Layout layout, std::string_view what) {
  return {ErrorCode::unsupported,
          "layout " + std::string(to_string(layout)) + " cannot " + std::string(what)};
}

Error wrong_unit(const LayoutSpec& spec, const LayoutKeys& keys, std::string_view score) {
  const std::string_view is = spec.seconds ? "s" : "ms";
  const std::string_view other = spec.seconds ? "ms" : "s";
  const std::string_view name = spec.seconds ? "milliseconds" : "seconds";
  return {ErrorCode::invalid_argument,
          "queue " + base::quoted(keys.queue) + " holds a score of " + std::string(score) +
              ", which can only be " + std::string(name) + ", and this store reads unit=" +
              std::string(is) + "; open it with unit=" + std::string(other) +
              ", or correct the score if the others are right"};
}

std::optional<Error> refusal_of(Layout layout, const core::Request& request) {
  if (const auto* configure = std::get_if<core::ConfigureRequest>(&request)) {
    return refuse_settings(layout, configure->patch);
  }
  if (const auto* get = std::get_if<core::GetRequest>(&request);
      get != nullptr && get->with_history) {
    return core::no_history("layout " + std::string(to_string(layout)), "asked for one");
  }
  if (std::holds_alternative<core::PauseRequest>(request)) {
    return unsupported_by(layout, "pause: other programs take messages from its keys");
  }
  if (std::holds_alternative<core::ReviveRequest>(request)) {
    return unsupported_by(layout, "revive: it has no place for the dead");
  }
  if (std::holds_alternative<core::MoveRequest>(request)) {
    return unsupported_by(layout, "take messages moved from another store: push them");
  }
  if (std::holds_alternative<core::ReshardRequest>(request)) {
    return unsupported_by(layout, "be resharded: its keys belong to other programs too");
  }
  if (std::holds_alternative<core::RemoveRequest>(request)) {
    return unsupported_by(
        layout, "remove a queue: its keys belong to other programs too; purge it instead");
  }
  return std::nullopt;
}

}  // namespace tarry::redis
