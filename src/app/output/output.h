// Output: everything that a command prints. Answers go to stdout, as tables or JSON; errors and
// notes to stderr, one line each.
//
// Thread safety: one thread at a time, but for `tell`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tarry/result.h>

#include "app/output/exit_codes.h"
#include "app/output/line_writer.h"
#include "app/output/table.h"
#include "app/output/terminal.h"
#include "wire/json_writer.h"

namespace tarry::app {

enum class Format { table, json };

class Output {
 public:
  Output();

  void set_format(Format format) noexcept { format_ = format; }
  [[nodiscard]] bool json() const noexcept { return format_ == Format::json; }
  [[nodiscard]] const Terminal& out() const noexcept { return out_; }
  [[nodiscard]] const Terminal& err() const noexcept { return err_; }

  void print(const Table& table);
  void print(const Sheet& sheet);
  void print_line(std::string_view line);
  /// The output of `write(JsonWriter&)`, on one line: an answer is one JSON value.
  template <typename Write>
  void print_json(Write write) {
    std::string text;
    wire::JsonWriter json(text);
    write(json);
    print_line(text);
  }

  /// Extra information on stderr that is no answer; nothing with `-o json`.
  void note(std::string_view line);

  /// `tarry: line` on stderr at once, in either format, for events during the run. Any thread.
  void tell(std::string_view line);

  /// From now on no caller waits for the reader of stderr: lines that do not fit are left out,
  /// counted, and reported. For commands that run until they are stopped; call it before another
  /// thread writes a line.
  void wait_for_no_reader();

  /// `tarry: message` on stderr, and with `-o json` also {"error":{"code","message"}}, below it.
  void error(const Error& error);
  /// From now on errors go there instead, without a `tarry:`; null: as before.
  void tell_errors_to(std::function<void(std::string_view)> told) { error_log_ = std::move(told); }
  /// Prints the error and answers its exit code.
  [[nodiscard]] ExitCode fail(const Error& error);
  /// A mistake in how the program was called.
  [[nodiscard]] ExitCode usage(std::string message);

  /// Writes out the buffered text. Errors: `io_error`, if that or an earlier write failed.
  [[nodiscard]] static Result<void> flush();

  /// The same, as an exit code. An answer that could not be written is no answer: `failed`.
  [[nodiscard]] ExitCode finish(ExitCode code);

 private:
  void put_error(std::string line);  // ends with a newline

  Format format_ = Format::table;
  Terminal out_;
  Terminal err_;
  std::function<void(std::string_view)> error_log_;
  std::unique_ptr<LineWriter> error_lines_;  // null: stderr is waited for
};

}  // namespace tarry::app
