#include "wire/parts/query.h"

#include <algorithm>
#include <limits>

#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "base/text/percent.h"
#include "base/text/text.h"
#include "core/rules/time_number.h"

namespace tarry::wire {
namespace {

constexpr std::size_t kMaxParameters = 32;

}  // namespace

std::string percent_encode(std::string_view bytes) { return base::percent_encoded(bytes, "-._~"); }

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? base::hex_value(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? base::hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return Unexpected(ErrorCode::invalid_argument,
                        "the URL has " + base::quoted(text.substr(at, 3)) +
                            " where % and two hexadecimal digits must stand");
    }
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

QueryWriter& QueryWriter::add(std::string_view name, std::string_view value) {
  out_ += any_ ? '&' : '?';
  any_ = true;
  out_ += name;
  out_ += '=';
  out_ += percent_encode(value);
  return *this;
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    std::string pair(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    std::ranges::replace(pair, '+', ' ');
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(std::string_view(pair).substr(0, equals));
    auto value = percent_decode(std::string_view(pair).substr(std::min(equals + 1, pair.size())));
    if (!name) return std::move(name).error();
    if (!value) return std::move(value).error();
    if (query.pairs_.size() == kMaxParameters) {
      return Unexpected(
          ErrorCode::invalid_argument,
          "the URL has more than the limit of " + std::to_string(kMaxParameters) + " parameters");
    }
    if (query.find(*name) != nullptr) {
      return Unexpected(ErrorCode::invalid_argument,
                        "the parameter " + base::quoted(*name) + " occurs twice");
    }
    query.pairs_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

const std::string* Query::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Query::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

bool Query::flag(std::string_view name) {
  const auto word = text(name);
  if (!word || *word == "false") return false;
  if (*word == "true") return true;
  fail({ErrorCode::invalid_argument,
        std::string(name) + " " + base::quoted(*word) + " is neither true nor false"});
  return false;
}
void Query::require(std::string_view name) {
  if (find(name) != nullptr) return;
  fail({ErrorCode::invalid_argument, "the parameter \"" + std::string(name) + "\" is missing"});
}

std::optional<std::string> Query::text(std::string_view name) {
  asked_.push_back(name);
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::optional<std::string> Query::bytes(std::string_view name, std::string_view name_base64) {
  auto plain = text(name);
  const auto encoded = text(name_base64);
  if (!encoded) return plain;
  if (plain) {
    fail({ErrorCode::invalid_argument, "both parameters \"" + std::string(name) + "\" and \"" +
                                           std::string(name_base64) + "\"; give one of them"});
    return std::nullopt;
  }
  auto decoded = base::base64_decode(*encoded);
  if (decoded) return std::move(*decoded);
  fail({ErrorCode::invalid_argument,
        "the parameter \"" + std::string(name_base64) + "\": " + decoded.error().message});
  return std::nullopt;
}

std::optional<std::uint64_t> Query::number(std::string_view name, std::uint64_t min,
                                           std::uint64_t max) {
  const auto digits = text(name);
  if (!digits) return std::nullopt;
  auto value = base::parse_u64(*digits, name, min, max);
  if (value) return *value;
  fail(std::move(value).error());
  return std::nullopt;
}

std::optional<std::uint32_t> Query::u32(std::string_view name, std::uint64_t least,
                                        std::uint64_t most) {
  const auto digits = text(name);
  if (!digits) return std::nullopt;
  const auto value = base::parse_u64(*digits, name, 0, std::numeric_limits<std::uint32_t>::max());
  if (value) return static_cast<std::uint32_t>(*value);
  fail(base::parse_u64(*digits, name, least, most).error());
  return std::nullopt;
}

std::optional<Time> Query::moment(std::string_view name, std::string_view name_ms) {
  const auto said = text(name);
  const auto exact =
      number(name_ms, 0, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (said && exact) {
    fail({ErrorCode::invalid_argument,
          std::string(name) + " and " + std::string(name_ms) + ": give one of them"});
    return std::nullopt;
  }
  if (exact) {
    const auto ms = static_cast<std::int64_t>(*exact);
    if (auto error = core::check_time_number(name_ms, ms)) fail(*std::move(error));
    return Time(Millis(ms));
  }
  if (!said) return std::nullopt;
  const auto parsed = base::parse_time_ms(*said);
  if (parsed) return Time(Millis(*parsed));
  fail({ErrorCode::invalid_argument, std::string(name) + ": " + parsed.error().message});
  return std::nullopt;
}

MaybeError Query::finish() const {
  for (const auto& [name, value] : pairs_) {
    if (std::ranges::find(asked_, name) != asked_.end()) continue;
    std::string known;
    for (const std::string_view asked : asked_) {
      known += (known.empty() ? "" : ", ") + std::string(asked);
    }
    return Error{ErrorCode::invalid_argument, "unknown parameter " + base::quoted(name) +
                                                  "; known: " + (known.empty() ? "none" : known)};
  }
  return error_;
}

}  // namespace tarry::wire
