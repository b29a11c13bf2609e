#include "engines/rabbitmq/ladder/declarer.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::amqp_view;

std::vector<amqp_table_entry_t> entries_of(const Arguments& arguments) {
  std::vector<amqp_table_entry_t> entries;
  for (const Argument& argument : arguments) {
    const auto* text = std::get_if<std::string>(&argument.value);
    entries.push_back(text == nullptr ? net::rabbit::number_entry(
                                            argument.name, std::get<std::int64_t>(argument.value))
                                      : net::rabbit::text_entry(argument.name, *text));
  }
  return entries;
}

Error cannot(std::string_view what, const Error& error) {
  return {error.code, "cannot " + std::string(what) + ": " + error.message};
}

}  // namespace

Result<void> Declarer::answered() {
  auto answer = link_.answered();
  if (answer || answer.error().code == ErrorCode::unavailable) return answer;
  amqp_channel_close_ok_t ok{};
  const int sent = amqp_send_method(link_.state(), channel_, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
  if (sent != AMQP_STATUS_OK) return link_.failure(sent);
  if (auto opened = open(); !opened) return opened;
  return answer;
}

Result<bool> Declarer::is_there(bool is_queue, const std::string& name) {
  if (is_queue) {
    amqp_queue_declare(link_.state(), channel_, amqp_view(name), 1, 1, 0, 0, amqp_empty_table);
  } else {
    amqp_exchange_declare(link_.state(), channel_, amqp_view(name), amqp_cstring_bytes("topic"), 1,
                          1, 0, 0, amqp_empty_table);
  }
  auto answer = answered();
  if (answer) return true;
  if (answer.error().code == ErrorCode::not_found) return false;
  return answer.error();
}

template <typename Ask>
Result<void> Declarer::declare(bool is_queue, const std::string& name, Ask ask) {
  const std::string what = (is_queue ? "declare queue " : "declare exchange ") + name;
  const auto there = is_there(is_queue, name);
  if (!there) return cannot(what, there.error());
  ask();
  auto answer = answered();
  if (answer) {
    if (!*there) made_.push_back({is_queue, name});
    return {};
  }
  if (*there && answer.error().code == ErrorCode::permission_denied) return {};
  return cannot(what, answer.error());
}

Result<void> Declarer::exchange(const std::string& name) {
  return declare(false, name, [&] {
    amqp_exchange_declare(link_.state(), channel_, amqp_view(name), amqp_cstring_bytes("topic"), 0,
                          1, 0, 0, amqp_empty_table);
  });
}

Result<void> Declarer::queue(const std::string& name, const Arguments& arguments) {
  auto entries = entries_of(arguments);
  return declare(true, name, [&] {
    amqp_queue_declare(link_.state(), channel_, amqp_view(name), 0, 1, 0, 0,
                       {static_cast<int>(entries.size()), entries.data()});
  });
}

// AMQP cannot tell whether a binding exists. If somebody else declared both ends, they bound them
// too.
Result<void> Declarer::bound(const Result<void>& answer, std::string_view target,
                             std::string_view source) {
  if (answer) return {};
  const bool ours = std::ranges::any_of(
      made_, [&](const Made& made) { return made.name == target || made.name == source; });
  if (!ours && answer.error().code == ErrorCode::permission_denied) return {};
  return cannot("bind " + std::string(target) + " to " + std::string(source), answer.error());
}

Result<void> Declarer::bind_queue(const std::string& queue, std::string_view exchange,
                                  const std::string& pattern) {
  amqp_queue_bind(link_.state(), channel_, amqp_view(queue), amqp_view(exchange),
                  amqp_view(pattern), amqp_empty_table);
  return bound(answered(), queue, exchange);
}

Result<void> Declarer::bind_exchange(std::string_view target, std::string_view source,
                                     const std::string& pattern) {
  amqp_exchange_bind(link_.state(), channel_, amqp_view(target), amqp_view(source),
                     amqp_view(pattern), amqp_empty_table);
  return bound(answered(), target, source);
}

void Declarer::undo() {
  for (; !made_.empty(); made_.pop_back()) {
    const Made& made = made_.back();
    if (made.is_queue) {
      // Quorum queues do not support the flag if-empty, so count first.
      if (const auto messages = count(made.name); !messages || messages->ready > 0) continue;
      amqp_queue_delete(link_.state(), channel_, amqp_view(made.name), 0, 0);
    } else {
      amqp_exchange_delete(link_.state(), channel_, amqp_view(made.name), 0);
    }
    // If this fails, the next open finds the remains and continues from there.
    static_cast<void>(answered());
  }
}

Result<QueueCounts> Declarer::count(const std::string& queue) {
  const auto* declared =
      amqp_queue_declare(link_.state(), channel_, amqp_view(queue), 1, 1, 0, 0, amqp_empty_table);
  QueueCounts counts;
  if (declared != nullptr) counts = {declared->message_count, declared->consumer_count};
  if (auto answer = answered(); !answer) return answer.error();
  return counts;
}

Result<std::uint64_t> Declarer::purge(const std::string& queue) {
  const auto* purged = amqp_queue_purge(link_.state(), channel_, amqp_view(queue));
  const std::uint64_t count = purged == nullptr ? 0 : purged->message_count;
  if (auto answer = answered(); !answer) return cannot("purge queue " + queue, answer.error());
  return count;
}

}  // namespace tarry::rabbitmq
