// CommandReader: finds the commands in the bytes that a client sends.
//
// Thread safety: none.
//
// Invariants
//  1. The bytes of a job's body are never read as commands. If a job is not as long as announced,
//     or a `put` cannot be read, the client and the server do not agree where the body ends: from
//     then on the reader is `lost`, and gives no further command.
//  2. It keeps at most kMaxOwnLine bytes of a line, and a body of at most `max_job` bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/beanstalk/command.h"

namespace tarry::beanstalk {

class CommandReader {
 public:
  /// `max_job`: the most bytes of a job's body; a longer one is thrown away.
  explicit CommandReader(std::uint64_t max_job) noexcept : max_job_(max_job) {}

  /// The views of commands are invalid from now on.
  void append(std::string_view bytes);
  /// The next command that has arrived in full. Its views are valid until `append`.
  [[nodiscard]] std::optional<Command> next();
  /// The next call of `next` returns the last command again. Call it once at most for a command.
  void rewind() noexcept;
  /// The body that is arriving is thrown away, and its command has the fault `out_of_memory`.
  void refuse_body() noexcept;

  /// The size in bytes of the body that is arriving; 0 if none is.
  [[nodiscard]] std::uint64_t awaited() const noexcept { return awaited_; }
  [[nodiscard]] bool is_empty() const noexcept {
    return at_ == bytes_.size() && skip_ == 0 && !in_long_line_;
  }
  [[nodiscard]] bool is_lost() const noexcept { return lost_; }
  /// Bytes that have arrived and have not been returned.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - at_; }
  [[nodiscard]] std::size_t memory() const noexcept { return bytes_.capacity(); }
  void forget() noexcept;

 private:
  [[nodiscard]] std::optional<Command> read_line();
  [[nodiscard]] std::optional<Command> read_long_line();
  [[nodiscard]] std::optional<Command> read_body(Command command, std::size_t line_end);
  [[nodiscard]] std::optional<Command> skip_body();
  void begin_skip(const Command& command, std::size_t from);

  const std::uint64_t max_job_;
  std::string bytes_;
  std::size_t at_ = 0;              // where the next command begins
  std::size_t last_at_ = 0;         // where the last one began
  std::optional<Command> skipped_;  // the command whose body is thrown away
  std::uint64_t skip_ = 0;          // how much of it is still to come
  std::optional<Command> last_skipped_;
  std::uint64_t awaited_ = 0;
  bool in_long_line_ = false;
  bool long_put_ = false;  // the long line begins as a put
  bool lost_ = false;
};

}  // namespace tarry::beanstalk
