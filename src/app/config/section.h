// Section: reads one table of a configuration file key by key, and checks each value's kind and
// limits. A key that nobody has read before `finish` is unknown: it is refused, and the error
// suggests the nearest known key. Errors are collected in Problems, in the order of the lines:
// `FILE:LINE: what`.
//
//   Section relay(node, "relay", problems);
//   auto queue = relay.text("queue");
//   auto batch = relay.count("batch", 1, 10'000);
//   for (Section& sink : relay.sections("sink")) ...
//   relay.finish();
//
// Every reader returns nothing if the key is missing or its value is wrong. A wrong value also
// becomes a problem.
//
// Thread safety: one thread at a time. The node and the problems outlive the section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "app/config/node.h"

namespace tarry::app::config {

/// The errors of one file.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(std::uint64_t line, std::string_view what);

  [[nodiscard]] bool none() const noexcept { return found_.empty(); }
  [[nodiscard]] std::size_t count() const noexcept { return found_.size(); }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// The problems as `FILE:LINE: what`, sorted by line.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::string file_;
  std::multimap<std::uint64_t, std::string> found_;  // sorted by line
};

class Section {
 public:
  /// `path`: the table's name as in the file, for example `server` or `queue."orders.*"`; empty for
  /// the whole file.
  Section(const Node& table, std::string path, Problems& problems);

  /// Readers of single values. A `size` or `duration` is a text such as "64MiB" or "30s"; a size
  /// may also be a whole number of bytes. Ranges include both ends.
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<std::string> choice(std::string_view key,
                                                  const std::vector<std::string_view>& choices);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view key, std::uint64_t min,
                                                   std::uint64_t max);
  /// From 1 to `max`, or "none", which is 0.
  [[nodiscard]] std::optional<std::uint64_t> count_or_none(std::string_view key, std::uint64_t max);
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key, std::uint64_t min,
                                                  std::uint64_t max);
  [[nodiscard]] std::optional<Millis> duration(std::string_view key, Millis min, Millis max);
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key);
  /// A list of at least one text, or a single text, none with a comma.
  [[nodiscard]] std::optional<std::vector<std::string>> one_or_more_texts(std::string_view key);

  /// A table of texts: NAME = "TEXT"; a text may be empty.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> named_texts(std::string_view key);

  /// [path.key]
  [[nodiscard]] std::optional<Section> section(std::string_view key);
  /// All [[path.key]], in the file's order.
  [[nodiscard]] std::vector<Section> sections(std::string_view key);
  /// [path.key.NAME] for every NAME in the file.
  [[nodiscard]] std::vector<std::pair<std::string, Section>> named_sections(std::string_view key);

  /// Every key that was not read is a problem.
  void finish();

  /// Reports a problem with the value of `key`, or with the section as a whole if the key is
  /// missing.
  void fail(std::string_view key, std::string_view what);
  [[nodiscard]] std::uint64_t line() const noexcept { return table_->line; }
  [[nodiscard]] std::uint64_t line_of(std::string_view key) const;
  /// The number of problems of the whole file so far.
  [[nodiscard]] std::size_t problem_count() const noexcept { return problems_->count(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const Node* find(std::string_view key);
  const Node* find(std::string_view key, Node::Kind kind, std::string_view example);
  [[nodiscard]] std::string full(std::string_view key) const;

  const Node* table_;
  std::string path_;
  Problems* problems_;
  std::vector<std::string> asked_;
};

/// Returns an error if `word` is not one of the choices: `must be one of a, b; did you mean "a"?`
[[nodiscard]] Result<void> check_choice(std::string_view word,
                                        const std::vector<std::string_view>& choices);

}  // namespace tarry::app::config
