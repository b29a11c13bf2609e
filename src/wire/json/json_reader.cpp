#include "wire/json/json_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include <boost/json/serialize.hpp>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "core/rules/time_number.h"

namespace tarry::wire {
namespace {

namespace json = boost::json;

std::string_view view_of(const json::string& text) noexcept { return {text.data(), text.size()}; }

json::string_view key_of(std::string_view name) noexcept { return {name.data(), name.size()}; }

std::string in_quotes(std::string_view name) {
  std::string out = "\"";
  out += name;
  out += '"';
  return out;
}

// In JSON, 1 and 1.0 are the same number.
std::optional<std::int64_t> whole(const json::value& value) {
  if (const std::int64_t* i = value.if_int64()) return *i;
  const double* d = value.if_double();
  if (d == nullptr || std::abs(*d) > kMaxExact || std::trunc(*d) != *d) return std::nullopt;
  return static_cast<std::int64_t>(*d);
}

std::optional<std::int64_t> whole_ms(const json::value& value) {
  const std::int64_t* ms = value.if_int64();
  return ms == nullptr ? std::nullopt : std::optional(*ms);
}

std::string plain(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", number);
  return text.data();
}

}  // namespace

std::string describe(const json::value& value) {
  switch (value.kind()) {
    case json::kind::string: return "the string " + base::quoted(view_of(value.get_string()));
    case json::kind::int64: return "the number " + std::to_string(value.get_int64());
    case json::kind::uint64: return "the number " + std::to_string(value.get_uint64());
    case json::kind::double_: return "the number " + json::serialize(value);
    case json::kind::bool_: return value.get_bool() ? "true" : "false";
    case json::kind::object: return "an object";
    case json::kind::array: return "an array";
    case json::kind::null: break;
  }
  return "null";
}

MaybeError read_bytes(const json::value& value, std::string_view what, std::string& scratch,
                      std::string_view& bytes) {
  if (const json::string* text = value.if_string()) {
    bytes = view_of(*text);
    return std::nullopt;
  }
  const json::object* object = value.if_object();
  const json::value* encoded = object == nullptr ? nullptr : object->if_contains("base64");
  if (encoded == nullptr || !encoded->is_string() || object->size() != 1) {
    return Error{
        ErrorCode::invalid_argument,
        std::string(what) + " must be a string or {\"base64\": \"...\"}, not " + describe(value)};
  }
  if (MaybeError error = read_base64(*encoded, what, scratch)) return error;
  bytes = scratch;
  return std::nullopt;
}

MaybeError read_base64(const json::value& value, std::string_view what, std::string& bytes) {
  const json::string* text = value.if_string();
  if (text == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 std::string(what) + " must be a string in Base64, not " + describe(value)};
  }
  auto decoded = base::base64_decode(view_of(*text));
  if (!decoded) {
    return Error{ErrorCode::invalid_argument, std::string(what) + ": " + decoded.error().message};
  }
  bytes = std::move(*decoded);
  return std::nullopt;
}

Fields::Fields(const json::value& value, std::string_view what, Unknown unknown)
    : object_(value.if_object()), what_(what), unknown_(unknown) {
  if (object_ == nullptr) {
    fail({ErrorCode::invalid_argument,
          std::string(what_) + " must be an object, not " + describe(value)});
  }
}

void Fields::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

bool Fields::has(std::string_view name) const noexcept {
  return object_ != nullptr && object_->if_contains(key_of(name)) != nullptr;
}

void Fields::require(std::string_view name) {
  if (!has(name)) {
    fail({ErrorCode::invalid_argument, std::string(what_) + " lacks " + in_quotes(name)});
  }
}

const json::value* Fields::take(std::string_view name) {
  if (asked_count_ < asked_.size()) asked_[asked_count_++] = name;
  if (object_ == nullptr) return nullptr;
  const json::value* value = find(name);
  if (value != nullptr) ++taken_;
  return value;
}

// Fields are mostly read in the order in which our writers write them, so the field after the last
// one that was found is looked at first.
const json::value* Fields::find(std::string_view name) {
  const auto* field = object_->begin() + next_;
  if (field == object_->end() || field->key() != key_of(name)) field = object_->find(key_of(name));
  if (field == object_->end()) return nullptr;
  next_ = field - object_->begin() + 1;
  return &field->value();
}

void Fields::wrong_type(std::string_view name, std::string_view wanted, const json::value& got) {
  fail({ErrorCode::invalid_argument,
        in_quotes(name) + " must be " + std::string(wanted) + ", not " + describe(got)});
}

// Some libraries write 1800 seconds as 1800.000000000. This must not be read as 1800 ms.
void Fields::no_millis(std::string_view name, std::string_view wanted, const json::value& got) {
  const double* number = got.if_double();
  if (number == nullptr || std::abs(*number) > kMaxExact) return wrong_type(name, wanted, got);
  fail({ErrorCode::invalid_argument,
        in_quotes(name) + " is " + plain(*number) +
            " with a decimal point, as some programs write seconds; milliseconds must be a whole "
            "number without one, anything else text such as " +
            (wanted.starts_with("a time") ? "\"2026-11-20T10:00:00Z\"" : "\"30s\"")});
}

void Fields::fail_choice(std::string_view name, std::string_view word, const std::string& known) {
  fail({ErrorCode::invalid_argument,
        in_quotes(name) + " is " + base::quoted(word) + "; it must be one of: " + known});
}

bool Fields::only_one(std::string_view a, std::string_view b) {
  if (!has(a) || !has(b)) return true;
  fail({ErrorCode::invalid_argument, std::string(what_) + " has both " + in_quotes(a) + " and " +
                                         in_quotes(b) + "; give one of them"});
  return false;
}

const json::value* Fields::any(std::string_view name) { return take(name); }

std::optional<std::string_view> Fields::text(std::string_view name) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const json::string* text = value->if_string()) return view_of(*text);
  wrong_type(name, "a string", *value);
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const bool* flag = value->if_bool()) return *flag;
  wrong_type(name, "true or false", *value);
  return std::nullopt;
}

namespace {

std::optional<std::uint64_t> whole_number(const json::value& value) {
  if (const std::uint64_t* u = value.if_uint64()) return *u;
  const auto i = whole(value);
  if (!i || *i < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*i);
}

std::string range(std::uint64_t min, std::uint64_t max) {
  return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace

std::optional<std::uint64_t> Fields::number(std::string_view name, std::uint64_t min,
                                            std::uint64_t max) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number(*value);
  if (number && *number >= min && *number <= max) return number;
  wrong_type(name, range(min, max), *value);
  return std::nullopt;
}

std::optional<std::uint32_t> Fields::u32(std::string_view name, std::uint64_t least,
                                         std::uint64_t most) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number(*value);
  if (number && *number <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(*number);
  }
  wrong_type(name, range(least, most), *value);
  return std::nullopt;
}

std::optional<std::uint64_t> Fields::u64(std::string_view name) {
  return number(name, 0, std::numeric_limits<std::uint64_t>::max());
}

std::optional<double> Fields::real(std::string_view name) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const auto number = value->to_number<double>();
    if (std::isfinite(number)) return number;
  }
  wrong_type(name, "a number that a double can hold", *value);
  return std::nullopt;
}

std::optional<std::int64_t> Fields::millis(std::string_view name) {
  const json::value* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const auto ms = whole_ms(*value)) return ms;
  no_millis(name, "whole milliseconds", *value);
  return std::nullopt;
}

std::optional<Time> Fields::time(std::string_view name_ms) {
  const auto ms = millis(name_ms);
  if (!ms) return std::nullopt;
  return Time(Millis(*ms));
}

std::optional<std::uint64_t> Fields::id(std::string_view name) {
  const auto digits = text(name);
  if (!digits) return std::nullopt;
  auto value =
      base::parse_u64(*digits, in_quotes(name), 0, std::numeric_limits<std::uint64_t>::max());
  if (value) return *value;
  fail(std::move(value).error());
  return std::nullopt;
}

std::optional<std::string_view> Fields::bytes(std::string_view name, std::string_view name_base64,
                                              std::string& scratch) {
  const bool one = only_one(name, name_base64);
  const auto plain = text(name);
  const auto encoded = text(name_base64);
  if (!one) return std::nullopt;
  if (plain || !encoded) return plain;
  auto decoded = base::base64_decode(*encoded);
  if (!decoded) {
    fail({ErrorCode::invalid_argument, in_quotes(name_base64) + ": " + decoded.error().message});
    return std::nullopt;
  }
  scratch = std::move(*decoded);
  return scratch;
}

std::optional<Millis> Fields::duration(std::string_view name, std::string_view name_ms) {
  return duration_of(name, name_ms, false);
}

std::optional<Millis> Fields::signed_duration(std::string_view name, std::string_view name_ms) {
  return duration_of(name, name_ms, true);
}

std::optional<Millis> Fields::duration_of(std::string_view name, std::string_view name_ms,
                                          bool may_be_negative) {
  const bool one = only_one(name, name_ms);
  const auto exact = millis(name_ms);
  const json::value* value = take(name);
  if (!one) return std::nullopt;
  if (exact) return Millis(*exact);
  if (value == nullptr) return std::nullopt;
  if (const auto ms = whole_ms(*value)) return Millis(*ms);
  const json::string* text = value->if_string();
  if (text == nullptr) {
    no_millis(name, "a duration such as \"30s\", or whole milliseconds", *value);
    return std::nullopt;
  }
  std::string_view said = view_of(*text);
  const bool back = may_be_negative && said.starts_with('-');
  if (back) said.remove_prefix(1);
  const auto parsed = base::parse_duration_ms(said);
  if (parsed) return Millis(back ? -*parsed : *parsed);
  fail({ErrorCode::invalid_argument, in_quotes(name) + ": " + parsed.error().message});
  return std::nullopt;
}

namespace {

// A string must be RFC 3339. Digits in quotes are a number that was sent as a string; no field
// takes that.
Result<std::int64_t> parse_moment(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return Unexpected(ErrorCode::invalid_argument,
                      base::quoted(text) +
                          " is a number in quotes; milliseconds since 1970 are given as "
                          "a number, a time as \"2026-11-20T10:00:00Z\"");
  }
  return base::parse_time_ms(text);
}

}  // namespace

std::optional<std::int64_t> Fields::moment_of(std::string_view name, const json::value& value) {
  if (const auto ms = whole_ms(value)) {
    if (auto error = core::check_time_number(in_quotes(name), *ms)) fail(*std::move(error));
    return ms;
  }
  const json::string* text = value.if_string();
  if (text == nullptr) {
    no_millis(name, "a time such as \"2026-11-20T10:00:00Z\", or whole milliseconds since 1970",
              value);
    return std::nullopt;
  }
  const auto parsed = parse_moment(view_of(*text));
  if (parsed) return *parsed;
  fail({ErrorCode::invalid_argument, in_quotes(name) + ": " + parsed.error().message});
  return std::nullopt;
}

std::optional<Time> Fields::moment(std::string_view name, std::string_view name_ms) {
  const auto exact = millis(name_ms);
  const json::value* value = take(name);
  const auto said = value == nullptr ? std::nullopt : moment_of(name, *value);
  if (exact && said && *exact != *said) {
    const json::string* text = value->if_string();
    fail({ErrorCode::invalid_argument,
          in_quotes(name) + " is " +
              (text != nullptr ? base::quoted(view_of(*text)) : std::to_string(*said)) + " and " +
              in_quotes(name_ms) + " is " + std::to_string(*exact) +
              ", which is another time; give one of them"});
  }
  // If there is a text too, it shows that the number is in milliseconds.
  if (exact && !(said && value->is_string())) {
    if (auto error = core::check_time_number(in_quotes(name_ms), *exact)) fail(*std::move(error));
  }
  if (failed()) return std::nullopt;
  const auto ms = exact ? exact : said;
  return ms ? std::optional(Time(Millis(*ms))) : std::nullopt;
}

std::optional<Due> Fields::due() {
  const auto delay = duration("delay", "delay_ms");
  const auto at = moment("due", "due_ms");
  if (delay && at) {
    fail({ErrorCode::invalid_argument,
          std::string(what_) + " has both a delay and a due time; give one of them"});
    return std::nullopt;
  }
  if (delay) return Due::after(*delay);
  if (at) return Due::at(*at);
  return std::nullopt;
}

const json::array* Fields::array(std::string_view name) {
  const json::value* value = take(name);
  if (value == nullptr) return nullptr;
  if (const json::array* array = value->if_array()) return array;
  wrong_type(name, "an array", *value);
  return nullptr;
}

MaybeError Fields::finish() {
  if (object_ == nullptr || unknown_ == Unknown::ignored || taken_ == object_->size()) {
    return error_;
  }
  // An unknown field is reported first, because it may be the cause of the other error (both forms
  // of a value, a field that is missing).
  const auto asked_end = asked_.begin() + static_cast<std::ptrdiff_t>(asked_count_);
  std::string known;
  for (auto name = asked_.begin(); name != asked_end; ++name) {
    known += (known.empty() ? "" : ", ") + std::string(*name);
  }
  for (const auto& field : *object_) {
    const std::string_view name(field.key().data(), field.key().size());
    if (std::find(asked_.begin(), asked_end, name) != asked_end) continue;
    return Error{ErrorCode::invalid_argument, "unknown field " + base::quoted(name) +
                                                  "; known: " + (known.empty() ? "none" : known)};
  }
  return error_;
}

}  // namespace tarry::wire
