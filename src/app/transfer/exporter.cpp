#include "app/transfer/exporter.h"

#include <utility>
#include <variant>

#include "app/moved_message.h"
#include "app/transfer/line.h"
#include "base/text.h"
#include "open/ask.h"

namespace tarry::app::transfer {
namespace {

std::uint64_t exportable(const QueueStats& stats) noexcept {
  return stats.scheduled + stats.ready + stats.leased + stats.dead;
}

class Exporter {
 public:
  using Write = std::function<Result<void>(std::string_view)>;

  Exporter(core::Engine& engine, const ExportOptions& options, const Write& write)
      : engine_(engine), options_(options), write_(write) {}

  Result<ExportReport> run() {
    const auto queues = find_queues();
    if (!queues) return queues.error();
    if (auto done = write_(write_line(HeadLine{})); !done) return done.error();
    const Time now = wall_clock();
    for (const QueueStats& queue : *queues) {
      const QueueLine line{queue.queue, queue.settings, pause_before(queue, now)};
      if (auto done = write_(write_line(line)); !done) return done.error();
      total_ += exportable(queue);
      report_.remembered += queue.remembered;
    }
    report_.queues = queues->size();
    for (const QueueStats& queue : *queues) {
      if (auto done = write_queue(queue.queue); !done) return done.error();
    }
    if (auto done = write_(write_line(EndLine{report_.messages})); !done) return done.error();
    return std::move(report_);
  }

 private:
  Result<std::vector<QueueStats>> find_queues() {
    if (options_.queues.empty()) {
      auto reply = detail::wait_for(engine_, core::StatsRequest{});
      if (!reply) return std::move(reply).error();
      return std::move(std::get<StoreStats>(*reply).queues);
    }
    std::vector<QueueStats> queues;
    for (const std::string& name : options_.queues) {
      auto stats = stats_of(engine_, name);
      if (!stats) return std::move(stats).error();
      queues.push_back(*std::move(stats));
    }
    return queues;
  }

  Result<void> write_queue(const std::string& queue) {
    std::string after;
    do {
      if (options_.stop.stop_requested()) {
        return Unexpected(ErrorCode::closed, "stopped before the end");
      }
      core::ListRequest request;
      request.queue = queue;
      request.after = after;
      request.limit = options_.page;
      auto reply = detail::wait_for(engine_, std::move(request));
      if (!reply) return std::move(reply).error();
      auto& page = std::get<core::ListReply>(*reply);
      std::vector<std::string> keys;
      for (MessageInfo& message : page.messages) {
        if (message.state != State::remembered) keys.push_back(std::move(message.key));
      }
      while (!keys.empty()) {
        const auto messages =
            get_messages(engine_, queue, keys, [&](const std::string& key, const Error& error) {
              report_.problems.push_back("queue " + base::quoted(queue) + ", message " +
                                         base::quoted(key) + " is left out: " + error.message);
            });
        if (!messages) return messages.error();
        for (const MessageInfo& message : *messages) {
          if (auto done = write_message(message); !done) return done;
        }
      }
      if (options_.progress) options_.progress(report_.messages, total_);
      after = page.next;
    } while (!after.empty());
    return {};
  }

  Result<void> write_message(const MessageInfo& message) {
    if (message.state == State::remembered) return {};
    ++report_.messages;
    if (message.state == State::leased) ++report_.leased;
    return write_(write_line(MessageLine{message}));
  }

  core::Engine& engine_;
  const ExportOptions& options_;
  const Write& write_;
  ExportReport report_;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                  const std::function<Result<void>(std::string_view)>& write) {
  return Exporter(engine, options, write).run();
}

}  // namespace tarry::app::transfer
