// The rates of `tarry forecast --rate`: given as flags, or seen by watching the queue for some
// seconds.
//
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <string>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "app/command_line/command.h"
#include "app/output/output.h"
#include "core/rules/validation.h"

namespace tarry::app {

struct RateWords {
  std::optional<std::string> rate;      // a number, or "lately"
  std::optional<std::string> arrivals;  // a number, "none" or "lately"
  std::optional<Millis> watch;
};

/// Adds --rate, --arrivals and --watch.
void add_rates(CLI::App& command, RateWords& into);

/// The error of the first flag that is wrong, or useless without another one.
[[nodiscard]] core::MaybeError check_rates(const RateWords& words);

/// Messages a second.
struct Rates {
  double claims = 0;
  double arrivals = 0;
};

/// `words` must have passed `check_rates`, and have a rate. Watches the queue if a rate is
/// "lately"; arrivals are so by default. Errors: those of reading the queue; `unsupported` if the
/// store's rates cannot be seen; `invalid_argument` if nothing was claimed meanwhile.
[[nodiscard]] Result<Rates> rates_of(const Queue& queue, const RateWords& words, Output& output);

}  // namespace tarry::app
