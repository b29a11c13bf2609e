// Applies a verb to many messages: lists a queue page by page, and passes each page's keys to a
// verb that takes many keys. If the command is stopped at any moment, running it again does the
// rest.
//
// Thread safety: blocks the calling thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/queue.h>

#include "app/output/exit_codes.h"

namespace tarry::app {

/// Gets one page; an Error ends the paging.
using EachPage = std::function<std::optional<Error>(const std::vector<MessageInfo>& page)>;

/// Visits pages of at most 1,000 messages that are in one of `states` and whose keys begin with
/// `prefix`. A page is never empty. Messages that arrive during the run may be missing.
[[nodiscard]] std::optional<Error> each_page(const Queue& queue, const std::vector<State>& states,
                                             std::string_view prefix, const EachPage& use);

/// The views are valid as long as `page` exists.
[[nodiscard]] std::vector<std::string_view> keys_of(const std::vector<MessageInfo>& page);

/// Counts how many items had each outcome, and how many failed.
class OutcomeTally {
 public:
  void add(const std::vector<Result<Answer>>& answers);
  /// For a verb whose answer is only a number. A count of 0 adds nothing.
  void add(Outcome outcome, std::uint64_t count);

  [[nodiscard]] std::uint64_t count(Outcome outcome) const noexcept;
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }
  /// The error of the first item that failed.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  /// The exit code of the worst answer.
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  static constexpr std::size_t kOutcomes = static_cast<std::size_t>(Outcome::stale) + 1;

  std::array<std::uint64_t, kOutcomes> counts_{};
  std::uint64_t failed_ = 0;
  std::optional<Error> error_;
  ExitCode code_ = ExitCode::done;
};

}  // namespace tarry::app
