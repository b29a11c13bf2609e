#include "server/session_parts/store_error.h"

#include <utility>
#include <variant>

namespace tarry::session {

bool may_name_files(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::unavailable:
    case ErrorCode::no_space:
    case ErrorCode::closed:
    case ErrorCode::unknown_outcome:
    case ErrorCode::damaged:
    case ErrorCode::io_error:
    case ErrorCode::permission_denied: return true;
    case ErrorCode::invalid_argument:
    case ErrorCode::too_large:
    case ErrorCode::unsupported:
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::misuse: break;  // these errors name the request's own values
  }
  return false;
}

// A path begins where a word begins. It ends with that word, or with the quotes around it.
std::string without_paths(std::string_view text) {
  constexpr std::string_view kBefore = " \"'(=:,";
  constexpr std::string_view kAfter = " \"'),;";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != std::string_view::npos;
    // The slashes in "redis://host" do not begin a path.
    const bool in_url = at > 0 && text[at - 1] == ':' && text.substr(at).starts_with("//");
    if (text[at] != '/' || !begins || in_url) {
      out += text[at++];
      continue;
    }
    const bool quoted = at > 0 && (text[at - 1] == '"' || text[at - 1] == '\'');
    std::size_t end = quoted ? text.find(text[at - 1], at) : text.find_first_of(kAfter, at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view path = text.substr(at, end - at);
    std::string_view tail;  // the punctuation after the path, as in "/a/b: reason"
    while (path.ends_with(':') || path.ends_with('.')) {
      tail = text.substr(at + path.size() - 1, tail.size() + 1);
      path.remove_suffix(1);
    }
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    std::size_t keep = path.rfind('/');
    if (keep > 0) keep = path.rfind('/', keep - 1);
    out += path.substr(keep + 1);
    out += tail;
    at = end;
  }
  return out;
}

std::string hide_paths(core::Reply& reply) {
  std::string trouble;
  const auto in = [&](auto& items) {
    for (auto& item : items) {
      if (!item.error || !may_name_files(item.error->code)) continue;
      std::string told = without_paths(item.error->message);
      if (trouble.empty() && item.error->code != ErrorCode::permission_denied) {
        trouble = std::exchange(item.error->message, std::move(told));
      } else {
        item.error->message = std::move(told);
      }
    }
  };
  if (auto* pushed = std::get_if<core::PushReply>(&reply)) in(pushed->items);
  if (auto* items = std::get_if<core::ItemsReply>(&reply)) in(items->items);
  if (auto* claimed = std::get_if<core::ClaimReply>(&reply)) {
    in(claimed->settled);
    auto& error = claimed->claim_error;
    if (error && may_name_files(error->code)) error->message = without_paths(error->message);
  }
  return trouble;
}

}  // namespace tarry::session
