#include "app/relays/relay_sinks.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/system/descriptors.h"
#include "base/loaded_library.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "open/redis/redis_server.h"
#include "open/urls/redis_url.h"
#include "open/urls/store_url.h"
#include "relay/sinks/command/kind.h"
#include "relay/sinks/kafka/kind.h"
#include "relay/sinks/rabbitmq/kind.h"
#include "relay/sinks/redis/kind.h"
#include "relay/sinks/stdout/kind.h"
#include "relay/sinks/webhook/kind.h"

namespace tarry::app {
namespace {

using relay::SinkKind;

Result<net::RedisOptions> redis_sink_server(std::string_view scheme, std::string_view rest) {
  const auto url = detail::parse_redis_url(scheme, rest);
  if (!url) return url.error();
  if (url->topology == detail::RedisUrl::Topology::cluster) {
    return Unexpected(ErrorCode::unsupported,
                      "a Redis Cluster cannot be a sink; use one server or sentinels");
  }
  return detail::redis_server_of(*url);
}

bool is_named_by(const SinkKind& kind, std::string_view to) {
  if (kind.schemes.empty()) return to == kind.name;
  const std::size_t colon = to.find(':');
  if (colon == std::string_view::npos) return false;
  return std::ranges::find(kind.schemes, to.substr(0, colon)) != kind.schemes.end();
}

Unexpected names_no_sink(std::string_view scheme) {
  std::vector<std::string_view> known;  // words and schemes
  std::vector<std::string_view> forms;
  for (const SinkKind& kind : sink_kinds()) {
    const bool is_word = kind.schemes.empty();
    const std::vector<std::string_view> word{kind.name};
    const auto& names = is_word ? word : kind.schemes;
    const auto& listed = is_word ? word : kind.forms;
    known.insert(known.end(), names.begin(), names.end());
    forms.insert(forms.end(), listed.begin(), listed.end());
  }
  const std::string_view last = forms.back();
  forms.pop_back();
  // The error shows only the scheme, because the rest may contain a password.
  return Unexpected(ErrorCode::invalid_argument,
                    fmt::format("{} names no sink; known are {} and {}{}", base::quoted(scheme),
                                fmt::join(forms, ", "), last, base::did_you_mean(scheme, known)));
}

}  // namespace

const std::vector<SinkKind>& sink_kinds() {
  static const std::vector<SinkKind> kKinds{
      relay::stdout_kind(is_open_for_writing),
      relay::command_kind(),
      relay::redis_kind(detail::redis_schemes(), redis_sink_server),
      relay::rabbitmq_kind(),
      relay::kafka_kind(),
      relay::webhook_kind(),
  };
  return kKinds;
}

const SinkKind* find_sink_kind(std::string_view to) {
  const auto found = std::ranges::find_if(
      sink_kinds(), [to](const SinkKind& kind) { return is_named_by(kind, to); });
  return found == sink_kinds().end() ? nullptr : &*found;
}

std::string sink_help() {
  std::string help;
  for (const SinkKind& kind : sink_kinds()) {
    if (!help.empty()) help += kind.schemes.empty() ? ", " : ",\n";
    help += kind.help;
  }
  return help;
}

std::string shown_sink(std::string_view to) {
  const std::size_t hash = to.find('#');
  const SinkKind* kind = find_sink_kind(to);
  const std::size_t slashes = to.find(':') + 1;
  // In an ill-formed URL the text after a # may be the end of a password.
  if (kind == nullptr || !kind->hides_target || !to.substr(slashes).starts_with("//") ||
      (hash != std::string_view::npos && to.find('@', hash) != std::string_view::npos)) {
    return detail::masked_url(to);
  }
  const std::size_t end = std::min(to.find_first_of("/?#", slashes + 2), to.size());
  const std::string_view fragment = hash == std::string_view::npos ? "" : to.substr(hash);
  const bool has_target = end < to.size() && to[end] != '#' && to.substr(end, hash - end) != "/";
  return detail::masked_url(to.substr(0, end)) + (has_target ? "/***" : "") + std::string(fragment);
}

relay::MadeSink make_sink(const relay::SinkWish& wish) {
  const SinkKind* kind = find_sink_kind(wish.to);
  if (!wish.command.empty() && (kind == nullptr || !kind->runs_command)) {
    return Unexpected(ErrorCode::invalid_argument, "a command after -- needs --to command");
  }
  if (kind == nullptr) return names_no_sink(wish.scheme());
  if (!kind->make) return Unexpected(ErrorCode::unsupported, std::string(kind->absent));
  if (kind->library != nullptr) {
    if (auto loaded = base::load(*kind->library); !loaded) {
      return Unexpected(loaded.error().code,
                        fmt::format("{} {}", kind->name, loaded.error().message));
    }
  }
  return kind->make(wish);
}

}  // namespace tarry::app
