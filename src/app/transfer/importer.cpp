#include "app/transfer/importer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/transfer/move_requests.h"
#include "app/transfer/moved_message.h"
#include "base/text/text.h"
#include "core/settings/settings_table.h"
#include "open/handles/ask.h"

namespace tarry::app::transfer {
namespace {

constexpr std::size_t kBatchItems = 500;
constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
constexpr std::size_t kMostProblems = 5;

std::size_t size_of(const MessageInfo& message) noexcept {
  std::size_t size = message.key.size() + message.payload.size() + message.reason.size();
  for (const Header& header : message.headers) size += header.name.size() + header.value.size();
  return size;
}

}  // namespace

Importer::Importer(core::Engine& engine, bool keep_settings, std::uint64_t before)
    : engine_(engine), keep_settings_(keep_settings) {
  report_.lines = before;
}

Error Importer::at_line(Error error) const {
  error.message = fmt::format("line {}: {}", report_.lines, error.message);
  return error;
}

void Importer::problem(const MessageInfo& message, const std::string& what) {
  if (report_.problems.size() >= kMostProblems) return;
  report_.problems.push_back("queue " + base::quoted(message.queue) + ", message " +
                             base::quoted(message.key) + " is not imported: " + what);
}

Result<void> Importer::check_begin(std::string_view text) {
  const auto line = read_line(text);
  if (line && std::holds_alternative<HeadLine>(*line)) return {};
  // If the line is from an export of another version, its own error says so.
  const bool means_to_be = text.find("\"tarry_export\"") != std::string_view::npos;
  if (!line && means_to_be) return line.error();
  return Error{ErrorCode::invalid_argument,
               "it is no export: the first line must be {\"tarry_export\":2}"};
}

Result<void> Importer::take(std::string_view text) {
  ++report_.lines;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  if (!begun_) {
    if (auto begins = check_begin(text); !begins) return at_line(std::move(begins).error());
  }
  auto line = read_line(text);
  Result<void> done;
  if (!line) {
    done = std::move(line).error();
  } else if (ended_) {
    done = Error{ErrorCode::invalid_argument, "there is more after the end of the export"};
  } else if (begun_ && std::holds_alternative<HeadLine>(*line)) {
    done = Error{ErrorCode::invalid_argument, "another export begins inside this one"};
  } else if (const auto* queue = std::get_if<QueueLine>(&*line)) {
    done = begin_queue(*queue);
  } else if (auto* message = std::get_if<MessageLine>(&*line)) {
    done = put(std::move(message->message));
  } else {
    begun_ = true;
    if (const auto* end = std::get_if<EndLine>(&*line)) {
      ended_ = true;
      told_ = end->messages;
    }
  }
  if (done) return {};
  if (auto flushed = flush(); !flushed) done = std::move(flushed);
  return at_line(std::move(done).error());
}

Result<void> Importer::begin_queue(const QueueLine& line) {
  if (queues_.contains(line.queue) || released_.contains(line.queue)) return {};
  const Time now = wall_clock();
  auto stats = stats_of(engine_, line.queue);
  const bool there = stats.has_value();
  if (!there && stats.error().code != ErrorCode::not_found) return stats.error();
  if (there && is_held_whole(*stats, now)) is_whole_ = true;
  if (there && is_whole_ && !is_held(*stats, now)) {
    released_.insert(line.queue);
    return {};
  }
  // The queue is held before anything else is done. A queue that an earlier run filled in part is
  // held already.
  const PauseState before = there ? pause_before(*stats, now) : PauseState();
  if (!there || !is_held(*stats, now)) {
    if (const auto hold = hold_of(before, now)) {
      if (auto held = set_pause(engine_, line.queue, {true, hold}); !held) return held;
    }
  }
  const bool keeps = there && keep_settings_;
  const QueueSettings& settings = keeps ? stats->settings : line.settings;
  queues_[line.queue] = {before, line.pause, settings.max_attempts};
  order_.push_back(line.queue);
  if (keeps) return {};
  const auto reply =
      detail::wait_for(engine_, core::ConfigureRequest{line.queue, core::patch_of(settings)});
  if (!reply) return reply.error();
  return {};
}

Result<void> Importer::put(MessageInfo message) {
  if (!queues_.contains(message.queue) && !released_.contains(message.queue)) {
    return Error{ErrorCode::invalid_argument,
                 "the line of queue " + base::quoted(message.queue) + " must come before this one"};
  }
  if (message.state == State::leased) end_claim(message);
  const std::size_t size = size_of(message);
  const bool other = !batch_.empty() && batch_.front().queue != message.queue;
  if (other || batch_.size() >= kBatchItems || batch_bytes_ + size > kBatchBytes) {
    if (auto done = flush(); !done) return done;
  }
  ++read_;
  batch_bytes_ += size;
  batch_.push_back(std::move(message));
  return {};
}

// A claim cannot be moved into another store: the message is treated as if its lease had run out.
void Importer::end_claim(MessageInfo& message) const {
  message.state = State::ready;
  const auto queue = queues_.find(message.queue);
  // Released by an earlier import: this message is only looked up.
  if (queue == queues_.end()) return;
  const std::uint32_t most =
      message.max_attempts != 0 ? message.max_attempts : queue->second.max_attempts;
  if (message.attempt < most) return;
  message.state = State::dead;
  message.reason = fmt::format("lease ran out on attempt {} of {}", message.attempt, most);
}

Result<void> Importer::flush() {
  if (batch_.empty()) return {};
  const std::vector<MessageInfo> messages = std::exchange(batch_, {});
  batch_bytes_ = 0;
  if (released_.contains(messages.front().queue)) return look(messages);
  const auto put = put_there(engine_, messages.front().queue, messages);
  if (!put) return put.error();
  const auto& items = *put;
  std::vector<MessageInfo> taken;
  std::optional<Error> fatal;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].error && !concerns_one(*items[i].error)) {
      fatal = items[i].error;
    } else if (items[i].error) {
      ++report_.failed;
      problem(messages[i], items[i].error->message);
    } else if (items[i].outcome == Outcome::pushed) {
      ++report_.imported;
    } else if (items[i].outcome == Outcome::settled) {
      ++report_.settled;
    } else {
      taken.push_back(messages[i]);
    }
  }
  if (auto looked = look(std::move(taken)); !looked) return looked;
  if (fatal) return *std::move(fatal);
  return {};
}

// Counts messages whose keys exist in the store: these may be the same messages, from an earlier
// run that was cut short, or others.
Result<void> Importer::look(std::vector<MessageInfo> taken) {
  if (taken.empty()) return {};
  std::vector<std::string> keys;
  for (const MessageInfo& message : taken) keys.push_back(message.key);
  std::map<std::string, MessageInfo> there;
  while (!keys.empty()) {
    auto some = get_messages(engine_, taken.front().queue, keys,
                             [](const std::string& /*key*/, const Error& /*error*/) {});
    if (!some) return std::move(some).error();
    for (MessageInfo& message : *some) there.insert_or_assign(message.key, std::move(message));
  }
  for (const MessageInfo& message : taken) {
    const auto other = there.find(message.key);
    const bool is_there = other != there.end();
    if (released_.contains(message.queue)) {
      ++(is_there ? report_.found : report_.ended);  // users of the store may have changed it since
    } else if (is_there && is_same(message, other->second)) {
      ++report_.found;
    } else {
      ++report_.conflicts;
      problem(
          message,
          "its key belongs to another message already, or to this one and it has changed since");
    }
  }
  return {};
}

Result<void> Importer::finish() {
  if (auto done = flush(); !done) return at_line(std::move(done).error());
  if (report_.lines == 0) {
    return Error{ErrorCode::invalid_argument, "there is nothing to import: the input is empty"};
  }
  if (!ended_) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("line {}: the file ends here, but the export is not complete: it was cut off",
                    report_.lines)};
  }
  // More lines than that do no harm: a repeated message is found in the store.
  if (read_ < told_) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("line {}: the export has {} messages, but only {} came before its "
                             "end: lines are missing",
                             report_.lines, told_, read_)};
  }
  if (auto done = let_go(); !done) return done;
  report_.complete = true;
  return {};
}

// Ends the holds. If an import is cut short here, all messages are in the store, and some queues
// already deliver them; another import must not put those in again. So first all queues record that
// they are complete. The first queue of the file keeps that record longest, because another import
// meets this queue first.
Result<void> Importer::let_go() {
  const Time now = wall_clock();
  for (const std::string& name : order_) {
    const auto hold = hold_of(queues_[name].before, now, Hold::whole);
    if (!hold) continue;
    if (auto set = set_pause(engine_, name, {true, hold}); !set) return set;
  }
  while (!order_.empty()) {
    const std::string& name = order_.back();
    const Queue& queue = queues_[name];
    const PauseState& after = queue.there.paused ? queue.there : queue.before;
    if (auto set = set_pause(engine_, name, after); !set) return set;
    queues_.erase(name);
    order_.pop_back();
  }
  return {};
}

ImportReport Importer::report() const {
  ImportReport report = report_;
  for (const auto& [name, queue] : queues_) report.held.push_back(name);
  return report;
}

}  // namespace tarry::app::transfer
