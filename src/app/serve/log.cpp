#include "app/serve/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/output/line_writer.h"
#include "app/output/printable.h"
#include "app/output/version.h"
#include "wire/json/json_writer.h"

namespace tarry::app {
namespace {

constexpr const char* kText = "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v";
// The text of the event is the rest of the JSON object.
constexpr const char* kJson = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v)";

spdlog::level::level_enum level_of(std::string_view name) noexcept {
  if (name == "debug") return spdlog::level::debug;
  if (name == "warning") return spdlog::level::warn;
  if (name == "error") return spdlog::level::err;
  return spdlog::level::info;
}

template <typename Write>
std::string rest_of_object(Write write) {
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object();
  write(json);
  json.end_object();
  return text.substr(1);  // kJson has written the opening brace
}

std::string_view color_of(spdlog::level::level_enum level) noexcept {
  switch (level) {
    case spdlog::level::debug: return "\x1b[36m";
    case spdlog::level::info: return "\x1b[32m";
    case spdlog::level::warn: return "\x1b[33m\x1b[1m";
    case spdlog::level::err: return "\x1b[31m\x1b[1m";
    default: return {};
  }
}

// Passes lines on to a LineWriter, because the thread that logs must not wait for a terminal or a
// pipe.
class Lines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Lines(const char* pattern, bool json)
      : lost_(pattern), json_(json), color_(!json && ::isatty(STDERR_FILENO) == 1) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    writer_.write(line_of(*formatter_, message));
  }
  void flush_() override {}

 private:
  [[nodiscard]] std::string line_of(spdlog::formatter& formatter,
                                    const spdlog::details::log_msg& message) const {
    spdlog::memory_buf_t text;
    formatter.format(message, text);
    std::string line(text.data(), text.size());
    if (color_ && message.color_range_end > message.color_range_start) {
      line.insert(message.color_range_end, "\x1b[0m");
      line.insert(message.color_range_start, color_of(message.level));
    }
    return line;
  }

  // Called on the writer's thread, or while a line is written. So it uses a formatter of its own.
  std::string lost_line(std::uint64_t lines) {
    std::string text =
        fmt::format("{} lines of this log were left out: the reader is too slow", lines);
    if (json_) {
      text = rest_of_object([&](wire::JsonWriter& json) {
        json.text_field("code", "lines_left_out").text_field("message", text);
        json.field("left_out", lines);
      });
    }
    const std::lock_guard lock(lost_mutex_);
    return line_of(lost_, {"tarry", spdlog::level::warn, spdlog::string_view_t(text)});
  }

  std::mutex lost_mutex_;
  spdlog::pattern_formatter lost_;
  const bool json_;
  const bool color_;
  LineWriter writer_{STDERR_FILENO, [this](std::uint64_t lines) { return lost_line(lines); }};
};

}  // namespace

class ServeLog::Impl {
 public:
  Impl(std::string_view level, Format format)
      : format_(format),
        logger_("tarry", std::make_shared<Lines>(format == Format::json ? kJson : kText,
                                                 format == Format::json)) {
    logger_.set_pattern(format == Format::json ? kJson : kText);
    logger_.set_level(level_of(level));
  }

  void set_level(std::string_view level) { logger_.set_level(level_of(level)); }

  void tell(const LogEntry& entry) {
    const auto level = level_of(to_string(entry.level));
    if (!logger_.should_log(level)) return;
    std::string text = printable(entry.text);
    if (format_ == Format::json) {
      text = rest_of_object([&](wire::JsonWriter& json) {
        json.text_field("code", entry.code).text_field("message", text);
      });
    }
    logger_.log(level, spdlog::string_view_t(text));
  }

  [[nodiscard]] std::string ready_line(const std::vector<std::string>& urls,
                                       std::string_view store) const {
    if (format_ == Format::text) {
      return fmt::format("{} serves {} on {}\n", version_line(), store, fmt::join(urls, ", "));
    }
    const std::string rest = rest_of_object([&](wire::JsonWriter& json) {
      json.field("message", "ready").field("version", TARRY_VERSION);
      write_ready(json, urls, store);
    });
    spdlog::memory_buf_t line;
    spdlog::pattern_formatter(kJson).format(
        {"tarry", spdlog::level::info, spdlog::string_view_t(rest)}, line);
    return {line.data(), line.size()};
  }

  void request(const session::RequestNote& note) {
    const bool failed = !note.reason.empty();
    const auto level = failed ? spdlog::level::warn : spdlog::level::debug;
    if (!logger_.should_log(level)) return;
    const std::string method = printable(note.method);
    const std::string reason = printable(note.reason);
    const auto us = static_cast<std::uint64_t>(note.took.count());
    std::string text;
    if (format_ == Format::json) {
      text = rest_of_object([&](wire::JsonWriter& json) {
        json.text_field("code", "request").text_field("message", "request");
        json.text_field("request_id", note.id);
        if (!note.identity.empty()) json.text_field("identity", note.identity);
        json.text_field("method", method).text_field("route", note.route);
        json.field("status", std::uint64_t{note.status}).field("took_us", us);
        if (failed) json.text_field("reason", reason);
        if (note.left_out > 0) json.field("left_out", note.left_out);
      });
    } else {
      text = fmt::format("request {} {} {}: {} after {} us", note.id, method.empty() ? "-" : method,
                         note.route, note.status, us);
      if (!note.identity.empty()) text += fmt::format(", token {}", note.identity);
      if (failed) text += ": " + reason;
      if (note.left_out > 0) text += fmt::format(" (and {} more like it before)", note.left_out);
    }
    logger_.log(level, spdlog::string_view_t(text));
  }

 private:
  const Format format_;
  spdlog::logger logger_;
};

void write_ready(wire::JsonWriter& json, const std::vector<std::string>& urls,
                 std::string_view store) {
  json.text_field("url", urls.front());
  if (urls.size() > 1) {
    json.name("urls").begin_array();
    for (const std::string& url : urls) json.string(url);
    json.end_array();
  }
  json.text_field("store", store);
}

ServeLog::ServeLog(std::string_view level, Format format)
    : impl_(std::make_unique<Impl>(level, format)) {}
ServeLog::~ServeLog() = default;

void ServeLog::tell(const LogEntry& entry) { impl_->tell(entry); }
void ServeLog::request(const session::RequestNote& note) { impl_->request(note); }
std::string ServeLog::ready_line(const std::vector<std::string>& urls,
                                 std::string_view store) const {
  return impl_->ready_line(urls, store);
}
void ServeLog::set_level(std::string_view level) { impl_->set_level(level); }

}  // namespace tarry::app
