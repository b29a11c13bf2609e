#include "app/transfer/exporter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "app/transfer/line.h"
#include "app/transfer/moved_message.h"
#include "app/transfer/told_keys.h"
#include "base/text/text.h"
#include "open/handles/ask.h"

namespace tarry::app::transfer {
namespace {

std::uint64_t exportable(const QueueStats& stats) noexcept {
  return stats.scheduled + stats.ready + stats.leased + stats.dead;
}

bool lists_twice(const core::Capabilities& can) { return can.keeper() == "redis"; }

class Exporter {
 public:
  Exporter(core::Engine& engine, const ExportOptions& options, const Visit& write)
      : engine_(engine),
        options_(options),
        write_(write),
        told_(lists_twice(engine.capabilities()) ? std::make_optional<ToldKeys>() : std::nullopt) {}

  Result<ExportReport> run() {
    if (options_.from != nullptr) {
      at_ = *options_.from;
      if (auto found = find_told(); !found) return found.error();
    } else if (auto begun = begin(); !begun) {
      return begun.error();
    }
    for (; at_.queue < at_.queues.size(); ++at_.queue) {
      const std::string& queue = at_.queues[at_.queue];
      if (at_.after.empty()) {
        if (auto opened = open_books(queue); !opened) return opened.error();
      }
      if (auto done = write_queue(queue); !done) return done.error();
      if (auto compared = compare_books(queue); !compared) return compared.error();
      if (told_) told_->clear();
    }
    if (auto done = write_(write_line(EndLine{at_.report.messages})); !done) return done.error();
    return std::move(at_.report);
  }

 private:
  Result<void> begin() {
    const auto queues = find_queues();
    if (!queues) return queues.error();
    if (auto done = write_(write_line(HeadLine{options_.version})); !done) return done;
    const Time now = wall_clock();
    for (const QueueStats& queue : *queues) {
      const QueueLine line{queue.queue, queue.settings, pause_before(queue, now)};
      if (auto done = write_(write_line(line)); !done) return done;
      at_.queues.push_back(queue.queue);
      at_.total += exportable(queue);
      at_.report.remembered += queue.remembered;
      if (queue.settings.group_order == GroupOrder::push && exportable(queue) != 0) {
        at_.report.problems.push_back(
            "queue " + base::quoted(queue.queue) +
            " keeps the order of pushes: an import gives its messages the order of the file");
      }
    }
    at_.report.queues = queues->size();
    return {};
  }

  Result<std::vector<QueueStats>> find_queues() {
    if (options_.queues.empty()) {
      auto reply = detail::wait_for(engine_, core::StatsRequest{});
      if (!reply) return std::move(reply).error();
      auto& stats = std::get<StoreStats>(*reply);
      for (const UnreadableQueue& queue : stats.unreadable) {
        at_.report.problems.push_back("queue " + base::quoted(queue.queue) +
                                      " is left out: " + queue.error.message);
      }
      return std::move(stats.queues);
    }
    std::vector<QueueStats> queues;
    for (const std::string& name : options_.queues) {
      auto stats = stats_of(engine_, name);
      if (!stats) return std::move(stats).error();
      queues.push_back(*std::move(stats));
    }
    return queues;
  }

  // Reads back which messages of the current queue were written already.
  Result<void> find_told() {
    if (!told_ || at_.queue >= at_.queues.size() || !options_.written) return {};
    return options_.written([this](std::string_view text) -> Result<void> {
      const auto line = read_line(text);
      if (!line) return line.error();
      if (const auto* told = std::get_if<MessageLine>(&*line);
          told != nullptr && told->message.queue == at_.queues[at_.queue]) {
        told_->insert(told->message.key);
      }
      return {};
    });
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
      request.whole = true;
      auto reply = detail::wait_for(engine_, std::move(request));
      if (!reply) return std::move(reply).error();
      auto& page = std::get<core::ListReply>(*reply);
      std::vector<std::string> keys;
      for (MessageInfo& message : page.messages) {
        if (message.state == State::remembered) continue;
        if (told_ && !told_->insert(message.key, message.id)) continue;
        ++at_.listed;
        keys.push_back(std::move(message.key));
      }
      if (auto done = write_messages(queue, std::move(keys)); !done) return done;
      if (options_.progress) options_.progress(at_.report.messages, at_.total);
      at_.after = page.next;
    } while (!at_.after.empty());
    return {};
  }

  Result<std::optional<QueueBooks>> read_books(const std::string& queue) {
    if (!engine_.capabilities().counts) return std::optional<QueueBooks>();
    const auto stats = stats_of(engine_, queue);
    if (!stats && stats.error().code == ErrorCode::not_found) {  // the queue was removed meanwhile
      return std::optional<QueueBooks>();
    }
    if (!stats) return stats.error();
    const QueueCounters& count = stats->counters;
    return std::optional(QueueBooks{exportable(*stats), count.accepted,
                                    count.acked + count.cancelled + count.replaced + count.expired +
                                        count.purged + count.moved_away});
  }

  Result<void> open_books(const std::string& queue) {
    auto books = read_books(queue);
    if (!books) return books.error();
    at_.books = *std::move(books);
    at_.listed = 0;
    return {};
  }

  // Compares the listed messages with the queue's counters. Messages that existed before the first
  // page, and have not ended since, must have been listed; no more messages may be listed than were
  // accepted.
  Result<void> compare_books(const std::string& queue) {
    const auto before = std::exchange(at_.books, std::nullopt);
    if (!before) return {};
    const auto after = read_books(queue);
    if (!after) return after.error();
    // If the queue was removed and made again meanwhile, its counters have started again.
    if (!*after || (*after)->accepted < before->accepted || (*after)->ended < before->ended) {
      return {};
    }
    const std::uint64_t ended = (*after)->ended - before->ended;
    const std::uint64_t least = before->present - std::min(before->present, ended);
    const std::uint64_t most = before->present + (*after)->accepted - before->accepted;
    // A continued export may list messages twice, because the run before may have listed messages
    // that it did not write.
    const bool too_many = at_.listed > most && options_.from == nullptr;
    if (at_.listed >= least && !too_many) return {};
    at_.report.problems.push_back(
        "queue " + base::quoted(queue) + ": its counters say that " +
        std::to_string(too_many ? most : least) + " messages at " + (too_many ? "most" : "least") +
        " were there all the time, but its list gave " + std::to_string(at_.listed) +
        ": this export is not complete (see tarry store audit)");
    return {};
  }

  Result<void> write_messages(const std::string& queue, std::vector<std::string> keys) {
    at_.report.gone += keys.size();
    const auto left_out = [&](const std::string& key, const Error& error) {
      --at_.report.gone;
      at_.report.problems.push_back("queue " + base::quoted(queue) + ", message " +
                                    base::quoted(key) + " is left out: " + error.message);
    };
    while (!keys.empty()) {
      const auto messages = get_messages(engine_, queue, keys, left_out);
      if (!messages) return messages.error();
      for (const MessageInfo& message : *messages) {
        if (message.state == State::remembered) continue;
        --at_.report.gone;
        if (auto done = write_message(message); !done) return done;
      }
    }
    return {};
  }

  Result<void> mark() { return options_.mark ? options_.mark(at_) : Result<void>(); }

  Result<void> write_message(const MessageInfo& message) {
    if (message.stopping) {  // its cancel was confirmed, so no import may deliver it
      ++at_.report.stopping;
      return {};
    }
    ++at_.report.messages;
    if (message.state == State::leased) ++at_.report.leased;
    MessageLine line{message};
    if (options_.version < kPushTimeExport) line.message.pushed.reset();
    return write_(write_line(line));
  }

  core::Engine& engine_;
  const ExportOptions& options_;
  const Visit& write_;
  // Keys of the current queue's messages, which lists may show twice.
  std::optional<ToldKeys> told_;
  ExportMark at_;
};

}  // namespace

Result<ExportReport> export_store(core::Engine& engine, const ExportOptions& options,
                                  const Visit& write) {
  return Exporter(engine, options, write).run();
}

}  // namespace tarry::app::transfer
