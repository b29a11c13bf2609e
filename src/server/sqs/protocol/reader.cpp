#include "server/sqs/protocol/reader.h"

#include <charconv>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/text/text.h"

namespace tarry::sqs {

namespace json = boost::json;

const json::value* Reader::find(std::string_view name) const noexcept {
  const json::value* found = params_.if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string_view> Reader::text(std::string_view name) {
  const json::value* found = find(name);
  if (found == nullptr) return std::nullopt;
  if (const json::string* given = found->if_string()) return std::string_view(*given);
  fail({Kind::malformed, std::string(name) + " is not a string."});
  return std::nullopt;
}

std::string_view Reader::required(std::string_view name) {
  const auto given = text(name);
  if (!given) fail(missing(name));
  return given.value_or(std::string_view());
}

std::optional<std::int64_t> Reader::number(std::string_view name, std::int64_t min,
                                           std::int64_t max) {
  const json::value* found = find(name);
  if (found == nullptr) return std::nullopt;
  std::optional<std::int64_t> number;
  if (const json::string* given = found->if_string()) number = parse_whole(*given);
  if (const std::int64_t* given = found->if_int64()) number = *given;
  if (number && *number >= min && *number <= max) return number;
  const json::string* given = found->if_string();
  fail(out_of_range(name, given != nullptr ? std::string(*given) : json::serialize(*found), min,
                    max));
  return std::nullopt;
}

const json::object* Reader::object(std::string_view name) {
  const json::value* found = find(name);
  if (found == nullptr) return nullptr;
  if (const json::object* given = found->if_object()) return given;
  fail({Kind::malformed, std::string(name) + " is not a map."});
  return nullptr;
}

const json::array* Reader::array(std::string_view name) {
  const json::value* found = find(name);
  if (found == nullptr) return nullptr;
  if (const json::array* given = found->if_array()) return given;
  fail({Kind::malformed, std::string(name) + " is not a list."});
  return nullptr;
}

std::optional<std::int64_t> parse_whole(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

Fault out_of_range(std::string_view name, std::string_view value, std::int64_t min,
                   std::int64_t max) {
  return invalid_value("Value " + base::quoted(value) + " for parameter " + std::string(name) +
                       " is invalid. Reason: Must be between " + std::to_string(min) + " and " +
                       std::to_string(max) + ", if provided.");
}

}  // namespace tarry::sqs
