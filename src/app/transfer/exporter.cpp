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
    if (options_.from != nullptr) {
      at_ = *options_.from;
    } else if (auto begun = begin(); !begun) {
      return begun.error();
    }
    for (; at_.queue < at_.queues.size(); ++at_.queue) {
      if (auto done = write_queue(at_.queues[at_.queue]); !done) return done.error();
    }
    if (auto done = write_(write_line(EndLine{at_.report.messages})); !done) return done.error();
    return std::move(at_.report);
  }

 private:
  Result<void> begin() {
    const auto queues = find_queues();
    if (!queues) return queues.error();
    if (auto done = write_(write_line(HeadLine{})); !done) return done;
    const Time now = wall_clock();
    for (const QueueStats& queue : *queues) {
      const QueueLine line{queue.queue, queue.settings, pause_before(queue, now)};
      if (auto done = write_(write_line(line)); !done) return done;
      at_.queues.push_back(queue.queue);
      at_.total += exportable(queue);
      at_.report.remembered += queue.remembered;
    }
    at_.report.queues = queues->size();
    return {};
  }

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
    do {
      if (auto marked = mark(); !marked) return marked;
      if (options_.stop.stop_requested()) {
        return Unexpected(ErrorCode::closed, "stopped before the end");
      }
      core::ListRequest request;
      request.queue = queue;
      request.after = at_.after;
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
              at_.report.problems.push_back("queue " + base::quoted(queue) + ", message " +
                                            base::quoted(key) + " is left out: " + error.message);
            });
        if (!messages) return messages.error();
        for (const MessageInfo& message : *messages) {
          if (auto done = write_message(message); !done) return done;
        }
      }
      if (options_.progress) options_.progress(at_.report.messages, at_.total);
      at_.after = page.next;
    } while (!at_.after.empty());
    return {};
  }

  Result<void> mark() { return options_.mark ? options_.mark(at_) : Result<void>(); }

  Result<void> write_message(const MessageInfo& message) {
    if (message.state == State::remembered) return {};
    if (message.stopping) {  // its cancel is confirmed: no import may deliver it
      ++at_.report.stopping;
      return {};
    }
    ++at_.report.messages;
    if (message.state == State::leased) ++at_.report.leased;
    return write_(write_line(MessageLine{message}));
  }

  core::Engine& engine_;
  const ExportOptions& options_;
  const Write& write_;
  ExportMark at_;
};

}  // namespace

Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                  const std::function<Result<void>(std::string_view)>& write) {
  return Exporter(engine, options, write).run();
}

}  // namespace tarry::app::transfer
