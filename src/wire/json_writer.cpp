#include "wire/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>

#include "base/base64.h"
#include "base/text.h"

namespace tarry::wire {
namespace {

template <typename T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc()) out.append(digits.data(), end);
}

constexpr std::array<bool, 256> needs_escape() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = true;
  table['\\'] = true;
  table[0x7f] = true;  // DEL: harmless in JSON, not in a terminal
  return table;
}
constexpr std::array<bool, 256> kEscaped = needs_escape();

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

// Keeps what is UTF-8, one U+FFFD for each byte that is not.
std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = 1;
    while (length <= 4 && length <= text.size() && !base::is_valid_utf8(text.substr(0, length))) {
      ++length;
    }
    if (length <= 4 && length <= text.size()) {
      out += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

void JsonWriter::comma() {
  if (comma_due_) out_ += ',';
  comma_due_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  comma();
  out_ += bracket;
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_due_ = true;
  return *this;
}

JsonWriter& JsonWriter::name(std::string_view name) {
  comma();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::foreign_name(std::string_view name) {
  string(name);
  out_ += ':';
  comma_due_ = false;
  return *this;
}

void JsonWriter::quote(std::string_view utf8) {
  comma();
  out_ += '"';
  std::size_t start = 0;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    if (!kEscaped[static_cast<unsigned char>(utf8[at])]) continue;
    out_ += utf8.substr(start, at - start);
    append_escape(out_, utf8[at]);
    start = at + 1;
  }
  out_ += utf8.substr(start);
  out_ += '"';
}

JsonWriter& JsonWriter::string(std::string_view text) {
  if (base::is_valid_utf8(text)) {
    quote(text);
  } else {
    quote(repaired(text));
  }
  return *this;
}

JsonWriter& JsonWriter::plain(std::string_view text) {
  comma();
  out_ += '"';
  out_ += text;
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  comma();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  comma();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  comma();
  append_number(out_, std::isfinite(value) ? value : 0.0);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  comma();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::bytes(std::string_view bytes) {
  if (base::is_valid_utf8(bytes)) {
    quote(bytes);
    return *this;
  }
  return begin_object().field("base64", base::base64_encode(bytes)).end_object();
}

JsonWriter& JsonWriter::bytes_field(std::string_view n, std::string_view bytes) {
  if (base::is_valid_utf8(bytes)) {
    name(n);
    quote(bytes);
    return *this;
  }
  return name(std::string(n) + "_base64").plain(base::base64_encode(bytes));
}

JsonWriter& JsonWriter::time_field(std::string_view n, std::int64_t epoch_ms) {
  if (epoch_ms >= 0 && epoch_ms <= base::kMaxTimeMs) field(n, base::format_time_ms(epoch_ms));
  return millis_field(n, epoch_ms);
}

JsonWriter& JsonWriter::millis_field(std::string_view n, std::int64_t ms) {
  comma();
  out_ += '"';
  out_ += n;
  out_ += "_ms\":";
  append_number(out_, ms);
  return *this;
}

JsonWriter& JsonWriter::id_field(std::string_view n, std::uint64_t id) {
  name(n);
  comma();
  out_ += '"';
  append_number(out_, id);
  out_ += '"';
  return *this;
}

}  // namespace tarry::wire
