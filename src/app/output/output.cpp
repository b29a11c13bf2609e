#include "app/output/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "app/output/printable.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

void put(std::FILE* file, std::string_view text) {
  // A failed write sets the file's error flag, which finish() checks.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), file));
}

}  // namespace

Output::Output() : out_(STDOUT_FILENO), err_(STDERR_FILENO) {}

void Output::print(const Table& table) { put(stdout, table.text(out_.width())); }

void Output::print(const Sheet& sheet) { put(stdout, sheet.text(out_.width())); }

void Output::print_line(std::string_view line) {
  put(stdout, line);
  put(stdout, "\n");
}

void Output::put_error(std::string line) {
  if (error_lines_) {
    error_lines_->write(std::move(line));
  } else {
    put(stderr, line);
  }
}

void Output::wait_for_no_reader() {
  error_lines_ = std::make_unique<LineWriter>(STDERR_FILENO, [](std::uint64_t lines) {
    return fmt::format("tarry: {} lines were left out here: the reader is too slow\n", lines);
  });
}

void Output::note(std::string_view line) {
  if (json()) return;
  std::fflush(stdout);
  put_error(printable(line) + "\n");
}

void Output::tell(std::string_view line) { put_error("tarry: " + printable(line) + "\n"); }

void Output::error(const Error& error) {
  std::fflush(stdout);
  if (error_log_) return error_log_(error.message);
  put_error("tarry: " + printable(error.message) + "\n");
  if (!json()) return;
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  wire::write_error(json, error);
  json.end_object();
  put_error(text + "\n");
}

ExitCode Output::fail(const Error& error) {
  this->error(error);
  return exit_code(error.code);
}

ExitCode Output::usage(std::string message) {
  return fail({ErrorCode::invalid_argument, std::move(message)});
}

Result<void> Output::flush() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  const std::string why = errno == 0 ? "an earlier write failed" : std::strerror(errno);
  return Error{ErrorCode::io_error, "cannot write the output: " + why};
}

ExitCode Output::finish(ExitCode code) {
  const auto written = flush();
  if (written) return code;
  error(written.error());
  return worst(code, ExitCode::failed);
}

}  // namespace tarry::app
