// Output: everything that a command prints. Answers go to stdout, as tables or JSON; errors and
// notes to stderr, one line each.
//
// Thread safety: one thread at a time, except for `tell`.
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
#include "wire/json/json_writer.h"

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
  /// Prints on one line what `write(JsonWriter&)` writes. Each answer is one JSON value.
  template <typename Write>
  void print_json(Write write) {
    std::string text;
    wire::JsonWriter json(text);
    write(json);
    print_line(text);
  }

  /// Prints extra information, which is not part of the answer, to stderr. With `-o json` it prints
  /// nothing.
  void note(std::string_view line);

  /// Prints `tarry: line` to stderr at once, in either output format, for events during the run.
  /// May be called from any thread.
  void tell(std::string_view line);

  /// From now on no caller waits for a slow reader of stderr: lines that do not fit into the buffer
  /// are left out, counted, and reported. For commands that run until they are stopped. Call it
  /// before any other thread writes a line.
  void wait_for_no_reader();

  /// Prints `tarry: message` to stderr; with `-o json` it also prints {"error":{"code","message"}}
  /// on the next line.
  void error(const Error& error);
  /// From now on errors go to `told` instead, without the prefix `tarry:`. Null restores stderr.
  void tell_errors_to(std::function<void(std::string_view)> told) { error_log_ = std::move(told); }
  /// Prints the error and returns its exit code.
  [[nodiscard]] ExitCode fail(const Error& error);
  /// Prints an error about how the program was called, and returns its exit code.
  [[nodiscard]] ExitCode usage(std::string message);

  /// Writes out the buffered text. Error: `io_error` if this write or an earlier one failed.
  [[nodiscard]] static Result<void> flush();

  /// Flushes, and returns `code`, or `failed` if the answer could not be written.
  [[nodiscard]] ExitCode finish(ExitCode code);

 private:
  void put_error(std::string line);  // ends with a newline

  Format format_ = Format::table;
  Terminal out_;
  Terminal err_;
  std::function<void(std::string_view)> error_log_;
  std::unique_ptr<LineWriter> error_lines_;  // null: callers wait for stderr
};

}  // namespace tarry::app
