// SinkKind: one kind of sink as the program knows it: its name, how `--to` and `to =` select it,
// and how to make one. Each folder beside this file describes its own kind in its kind.h; the
// program's composition root lists them (app/relays/relay_sinks.cpp).
//
// Plain values. Thread safety: pure functions, except for `make`, which may read files that a URL
// names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "relay/child_process.h"
#include "relay/sink.h"

namespace tarry::relay {

/// Commands at once, of one relay.
inline constexpr std::uint32_t kMaxCommands = 1'024;

struct SinkWish {
  std::string to;                    // a kind's name, or a URL of one of its schemes
  std::vector<std::string> command;  // of a kind that runs one
  std::uint32_t concurrency = 1;     // of a kind that runs one
  ChildOptions children = {};        // of a kind that runs one
  /// The sink is of no use any more; from a thread of its own.
  std::function<void(Error)> on_broken;

  /// Parts of a URL: the scheme before its colon, and the rest after it.
  [[nodiscard]] std::string_view scheme() const noexcept {
    return std::string_view(to).substr(0, to.find(':'));
  }
  [[nodiscard]] std::string_view rest() const noexcept {
    return std::string_view(to).substr(to.find(':') + 1);
  }
};

using MadeSink = Result<std::unique_ptr<Sink>>;

struct SinkKind {
  std::string_view name;                       // as `tarry version` lists it
  std::vector<std::string_view> schemes = {};  // of its URLs; empty: `to` is the name itself
  std::vector<std::string_view> forms = {};    // how its URLs begin, for errors: "amqp://"
  std::string_view help = {};    // its text in the help of `--to`: one line, or several
  std::string_view absent = {};  // why `make` is empty, if it is
  bool runs_command = false;     // takes SinkWish::command
  bool writes_stdout = false;    // the program then writes nothing else there
  bool hides_target = false;     // a URL's path and query may be a secret, and are not shown

  /// Connects only when the first message comes. Errors: `invalid_argument`, naming value and
  /// limit, but neither flag nor key; and the kind's own. Empty: it was not built in.
  std::function<MadeSink(const SinkWish&)> make = {};
};

}  // namespace tarry::relay
