#include "wire/json/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <utility>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "core/rules/time_number.h"

namespace tarry::wire {
namespace {

template <typename T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc()) out.append(digits.data(), end);
}

// How a byte is escaped. Size 0: the byte needs no escape.
struct Escape {
  std::array<char, 6> text{};
  std::size_t size = 0;
};

constexpr std::array<Escape, 256> make_escapes() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<Escape, 256> table{};
  const auto as_number = [&](std::size_t c) {
    table[c] = {{'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]}, 6};
  };
  for (std::size_t c = 0; c < 0x20; ++c) as_number(c);
  as_number(0x7f);  // DEL is harmless in JSON, but not in a terminal
  for (const auto& [byte, letter] :
       {std::pair('"', '"'), {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}) {
    table[static_cast<unsigned char>(byte)] = {{'\\', letter}, 2};
  }
  return table;
}
constexpr std::array<Escape, 256> kEscapes = make_escapes();

const Escape& escape_of(char c) { return kEscapes[static_cast<unsigned char>(c)]; }

// Appends escapes for bytes at the beginning of `text`, and returns for how many bytes. It appends
// many escapes at once, because a run of zeros may be long and one append for each takes several
// times as long.
std::size_t append_escapes(std::string& out, std::string_view text) {
  std::array<char, 384> run;
  std::size_t size = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Escape& escape = escape_of(text[at]);
    if (escape.size == 0 || size + escape.text.size() > run.size()) break;
    std::memcpy(run.data() + size, escape.text.data(), escape.text.size());
    size += escape.size;
    ++at;
  }
  out.append(run.data(), size);
  return at;
}

// Keeps valid UTF-8, and writes one U+FFFD for each other byte.
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
  for (std::size_t start = 0, at = 0; start < utf8.size(); start = at) {
    while (at < utf8.size() && escape_of(utf8[at]).size == 0) ++at;
    out_ += utf8.substr(start, at - start);
    at += append_escapes(out_, utf8.substr(at));
  }
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

JsonWriter& JsonWriter::moment_field(std::string_view n, std::int64_t epoch_ms) {
  const bool small = epoch_ms > 0 && epoch_ms < core::kLeastTimeNumberMs;
  if (small) return field(n, base::format_time_ms(epoch_ms));
  return millis_field(n, epoch_ms);
}

JsonWriter& JsonWriter::due(Due due) {
  return due.is_relative() ? millis_field("delay", due.millis())
                           : moment_field("due", due.millis());
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
