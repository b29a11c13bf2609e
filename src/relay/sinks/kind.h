// SinkKind: describes one kind of sink to the program: its name, how `--to` and `to =` select it,
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

#include "base/loaded_library.h"
#include "relay/child_process.h"
#include "relay/sink.h"

namespace tarry::relay {

/// The most commands that one relay may run at once.
inline constexpr std::uint32_t kMaxCommands = 1'024;

struct SinkWish {
  std::string to;                    // a kind's name, or a URL of one of its schemes
  std::vector<std::string> command;  // for a kind that runs a command
  std::uint32_t concurrency = 1;     // for a kind that runs a command
  ChildOptions children = {};        // for a kind that runs a command
  /// Called when the sink can no longer be used, on one of the sink's threads.
  std::function<void(Error)> on_broken;

  /// The two parts of the URL `to`: the scheme before its colon, and the rest after it.
  [[nodiscard]] std::string_view scheme() const noexcept {
    return std::string_view(to).substr(0, to.find(':'));
  }
  [[nodiscard]] std::string_view rest() const noexcept {
    return std::string_view(to).substr(to.find(':') + 1);
  }
};

using MadeSink = Result<std::unique_ptr<Sink>>;

struct SinkKind {
  std::string_view name;  // as `tarry version` lists it
  // Schemes of its URLs; empty: `to` is the name itself.
  std::vector<std::string_view> schemes = {};
  std::vector<std::string_view> forms = {};  // how its URLs begin, for errors: "amqp://"
  std::string_view help = {};                // its part of the help of `--to`: one or more lines
  std::string_view absent = {};              // why the kind is not built in, if `make` is empty
  bool runs_command = false;                 // whether it takes SinkWish::command
  bool writes_stdout = false;                // the program then writes nothing else to it
  // What `make` needs and does not load itself; null: nothing.
  const base::LoadedLibrary* library = nullptr;
  bool hides_target = false;  // a URL's path and query may be a secret, and are not shown

  /// Makes the sink, which connects only when its first message comes. Errors: `invalid_argument`,
  /// which names the value and the limit, but neither the flag nor the configuration's key; and the
  /// kind's own. If `make` is empty, the kind is not built in.
  std::function<MadeSink(const SinkWish&)> make = {};
};

}  // namespace tarry::relay
