#include "app/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <string>

#include <fmt/format.h>

#include "app/printable.h"
#include "wire/json_writer.h"

namespace tarry::app {
namespace {

constexpr const char* kText = "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v";
// What is told is the rest of the object.
constexpr const char* kJson = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v)";

spdlog::level::level_enum level_of(std::string_view name) noexcept {
  if (name == "debug") return spdlog::level::debug;
  if (name == "warning") return spdlog::level::warn;
  if (name == "error") return spdlog::level::err;
  return spdlog::level::info;
}

}  // namespace

class ServeLog::Impl {
 public:
  Impl(std::string_view level, Format format)
      : format_(format), logger_("tarry", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_pattern(format == Format::json ? kJson : kText);
    logger_.set_level(level_of(level));
    logger_.flush_on(spdlog::level::debug);
  }

  void set_level(std::string_view level) { logger_.set_level(level_of(level)); }

  void tell(spdlog::level::level_enum level, std::string_view line) {
    if (!logger_.should_log(level)) return;
    std::string text = printable(line);
    if (format_ == Format::json) {
      text = object([&](wire::JsonWriter& json) { json.text_field("message", text); });
    }
    logger_.log(level, spdlog::string_view_t(text));
  }

  void request(const http::RequestNote& note) {
    const bool failed = !note.reason.empty();
    const auto level = failed ? spdlog::level::warn : spdlog::level::debug;
    if (!logger_.should_log(level)) return;
    const std::string method = printable(note.method);
    const std::string reason = printable(note.reason);
    const auto us = static_cast<std::uint64_t>(note.took.count());
    std::string text;
    if (format_ == Format::json) {
      text = object([&](wire::JsonWriter& json) {
        json.field("message", "request").text_field("request_id", note.id);
        json.text_field("method", method).text_field("route", note.route);
        json.field("status", std::uint64_t{note.status}).field("took_us", us);
        if (failed) json.text_field("reason", reason);
      });
    } else {
      text = fmt::format("request {} {} {}: {} after {} us", note.id, method.empty() ? "-" : method,
                         note.route, note.status, us);
      if (failed) text += ": " + reason;
    }
    logger_.log(level, spdlog::string_view_t(text));
  }

 private:
  template <typename Write>
  static std::string object(Write write) {
    std::string text;
    wire::JsonWriter json(text);
    json.begin_object();
    write(json);
    json.end_object();
    return text.substr(1);  // the pattern has begun it
  }

  const Format format_;
  spdlog::logger logger_;
};

ServeLog::ServeLog(std::string_view level, Format format)
    : impl_(std::make_unique<Impl>(level, format)) {}
ServeLog::~ServeLog() = default;

void ServeLog::info(std::string_view line) { impl_->tell(spdlog::level::info, line); }
void ServeLog::warning(std::string_view line) { impl_->tell(spdlog::level::warn, line); }
void ServeLog::error(std::string_view line) { impl_->tell(spdlog::level::err, line); }
void ServeLog::request(const http::RequestNote& note) { impl_->request(note); }
void ServeLog::set_level(std::string_view level) { impl_->set_level(level); }

}  // namespace tarry::app
