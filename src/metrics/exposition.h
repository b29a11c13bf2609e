// Metrics as text, in Prometheus's exposition format 0.0.4: families of samples, each family with
// its help. https://prometheus.io/docs/instrumenting/exposition_formats/
//
// Plain value; not thread safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tarry::metrics {

struct Label {
  std::string_view name;
  std::string_view value;  // any UTF-8
};
using Labels = std::initializer_list<Label>;

enum class Kind : std::uint8_t { counter, gauge, histogram };

class Exposition {
 public:
  /// Begins a family; its samples follow, before the next one begins.
  void family(std::string_view name, Kind kind, std::string_view help);

  void sample(Labels labels, std::uint64_t value) { sample("", labels, value); }
  void sample(Labels labels, double value) { sample("", labels, value); }
  /// For a histogram: `suffix` is _bucket, _sum or _count.
  void sample(std::string_view suffix, Labels labels, std::uint64_t value);
  void sample(std::string_view suffix, Labels labels, double value);

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void begin(std::string_view suffix, Labels labels);

  std::string text_;
  std::string name_;
};

}  // namespace tarry::metrics
