#include "server/beanstalk/command_reader.h"

#include <algorithm>
#include <utility>

namespace tarry::beanstalk {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kSmall = 64 * 1024;

Command without_views(Command command) noexcept {
  command.name = {};
  command.body = {};
  return command;
}

}  // namespace

void CommandReader::append(std::string_view bytes) {
  if (lost_) return;
  if (at_ > 0) {
    bytes_.erase(0, at_);
    at_ = 0;
    if (bytes_.empty() && bytes_.capacity() > kSmall) bytes_ = {};
  }
  bytes_.append(bytes);
}

std::optional<Command> CommandReader::next() {
  if (lost_) return std::nullopt;
  if (skipped_) return skip_body();
  last_skipped_.reset();
  last_at_ = at_;
  return in_long_line_ ? read_long_line() : read_line();
}

void CommandReader::rewind() noexcept {
  lost_ = false;
  at_ = last_at_;
  if (last_skipped_) skipped_ = std::exchange(last_skipped_, std::nullopt);
}

void CommandReader::forget() noexcept {
  bytes_ = {};
  at_ = 0;
  lost_ = true;
}

std::optional<Command> CommandReader::read_line() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const std::size_t end = rest.find(kLineEnd);
  const std::size_t most = max_line(rest);
  const bool is_long =
      end == std::string_view::npos ? rest.size() >= most : end + kLineEnd.size() > most;
  if (is_long) {
    in_long_line_ = true;
    long_put_ = rest.starts_with("put");
    return read_long_line();
  }
  if (end == std::string_view::npos) return std::nullopt;
  const Command command = parse_command(rest.substr(0, end));
  const std::size_t line_end = at_ + end + kLineEnd.size();
  if (has_body(command.verb) && command.fault == Fault::none) return read_body(command, line_end);
  lost_ = has_body(command.verb);
  at_ = line_end;
  return command;
}

// A line that is too long is dropped as it comes.
std::optional<Command> CommandReader::read_long_line() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const std::size_t end = rest.find(kLineEnd);
  if (end == std::string_view::npos) {
    at_ = bytes_.size() - (rest.ends_with('\r') ? 1 : 0);
    return std::nullopt;
  }
  at_ += end + kLineEnd.size();
  in_long_line_ = false;
  lost_ = long_put_;
  Command command;
  command.verb = long_put_ ? Verb::put : Verb::unknown;
  command.fault = Fault::bad_format;
  return command;
}

std::optional<Command> CommandReader::read_body(Command command, std::size_t line_end) {
  const std::uint64_t needed = std::uint64_t{command.size} + kLineEnd.size();
  if (command.size > max_job_) {
    command.fault = Fault::too_big;
    begin_skip(command, line_end);
    return skip_body();
  }
  if (command.has_garbage) {
    command.fault = Fault::bad_format;
    lost_ = true;
    at_ = line_end;
    return command;
  }
  if (bytes_.size() - line_end < needed) {
    awaited_ = needed;
    return std::nullopt;
  }
  awaited_ = 0;
  const std::string_view job =
      std::string_view(bytes_).substr(line_end, static_cast<std::size_t>(needed));
  at_ = line_end + job.size();
  if (!job.ends_with(kLineEnd)) {
    command.fault = Fault::expected_crlf;
    lost_ = true;
    return command;
  }
  command.body = job.substr(0, command.size);
  return command;
}

void CommandReader::begin_skip(const Command& command, std::size_t from) {
  skipped_ = without_views(command);
  skip_ = std::uint64_t{command.size} + kLineEnd.size();
  at_ = from;
  awaited_ = 0;
}

void CommandReader::refuse_body() noexcept {
  if (awaited_ == 0) return;
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const std::size_t end = rest.find(kLineEnd);
  Command command = parse_command(rest.substr(0, end));
  command.fault = Fault::out_of_memory;
  begin_skip(command, at_ + end + kLineEnd.size());
}

std::optional<Command> CommandReader::skip_body() {
  const std::uint64_t here = std::min<std::uint64_t>(skip_, bytes_.size() - at_);
  at_ += static_cast<std::size_t>(here);
  skip_ -= here;
  last_at_ = at_;
  if (skip_ > 0) return std::nullopt;
  last_skipped_ = skipped_;
  return std::exchange(skipped_, std::nullopt);
}

}  // namespace tarry::beanstalk
