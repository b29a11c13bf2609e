#include "metrics/exposition.h"

#include <array>
#include <charconv>

namespace tarry::metrics {
namespace {

std::string_view name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::counter: return "counter";
    case Kind::gauge: return "gauge";
    case Kind::histogram: return "histogram";
  }
  return "untyped";
}

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

// The shortest text that reads back as `value`.
std::string number_text(double value) {
  std::array<char, 32> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

}  // namespace

void Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  name_ = name;
  text_ += "# HELP ";
  text_ += name;
  text_ += ' ';
  text_ += help;
  text_ += "\n# TYPE ";
  text_ += name;
  text_ += ' ';
  text_ += name_of(kind);
  text_ += '\n';
}

void Exposition::begin(std::string_view suffix, Labels labels) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const Label& label : labels) {
    text_ += before;
    text_ += label.name;
    text_ += "=\"";
    append_escaped(text_, label.value);
    text_ += '"';
    before = ',';
  }
  if (before == ',') text_ += '}';
  text_ += ' ';
}

void Exposition::sample(std::string_view suffix, Labels labels, std::uint64_t value) {
  begin(suffix, labels);
  text_ += std::to_string(value);
  text_ += '\n';
}

void Exposition::sample(std::string_view suffix, Labels labels, double value) {
  begin(suffix, labels);
  text_ += number_text(value);
  text_ += '\n';
}

}  // namespace tarry::metrics
