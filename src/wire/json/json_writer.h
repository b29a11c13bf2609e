// JsonWriter: writes JSON directly into a string, without a tree. It writes the commas itself. The
// caller must close every object and array, and give every value of an object its name.
//
// Arbitrary bytes (keys, payloads) are written as NAME if they are UTF-8, otherwise as NAME_base64.
// Times are written twice, as NAME (RFC 3339) and as NAME_ms.
//
// Thread safety: none; the string must outlive the writer.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/time.h>

namespace tarry::wire {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  /// `name` must be our own, so that it needs no escaping.
  JsonWriter& name(std::string_view name);
  /// A name from outside, which is escaped.
  JsonWriter& foreign_name(std::string_view name);
  /// Bytes that are not UTF-8 are written as U+FFFD.
  JsonWriter& string(std::string_view text);
  /// A string that needs no escaping: base64, a time, our own word.
  JsonWriter& plain(std::string_view text);
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(std::uint64_t value);
  /// Writes the shortest form that reads back as the same number. A value that JSON cannot express
  /// (infinite, NaN) is written as 0.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  /// Writes bytes as a value in a list: a string, or {"base64":"..."} if they are not UTF-8.
  JsonWriter& bytes(std::string_view bytes);

  JsonWriter& field(std::string_view n, std::string_view text) { return name(n).plain(text); }
  JsonWriter& field(std::string_view n, std::uint64_t value) { return name(n).number(value); }
  JsonWriter& field_i64(std::string_view n, std::int64_t value) { return name(n).number(value); }
  // A Bool would be written as a number.
  template <std::same_as<bool> Bool>
  JsonWriter& field(std::string_view n, Bool value) = delete;
  JsonWriter& field_bool(std::string_view n, bool value) { return name(n).boolean(value); }
  JsonWriter& text_field(std::string_view n, std::string_view text) { return name(n).string(text); }
  JsonWriter& bytes_field(std::string_view n, std::string_view bytes);
  JsonWriter& time_field(std::string_view n, std::int64_t epoch_ms);
  JsonWriter& time_field(std::string_view n, Time time) {
    return time_field(n, time.time_since_epoch().count());
  }
  /// For a request: NAME_ms; or NAME as text, if a server would refuse the number because it looks
  /// like seconds.
  JsonWriter& moment_field(std::string_view n, std::int64_t epoch_ms);
  /// For a request: "delay_ms", or the time in the form of moment_field.
  JsonWriter& due(Due due);
  /// NAME_ms: the milliseconds of a duration.
  JsonWriter& millis_field(std::string_view n, std::int64_t ms);
  /// Ids are strings: JavaScript would round a number above 2^53.
  JsonWriter& id_field(std::string_view n, std::uint64_t id);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void comma();
  void quote(std::string_view utf8);

  std::string& out_;
  bool comma_due_ = false;
};

}  // namespace tarry::wire
