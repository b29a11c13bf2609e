#include "app/commands/listing.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "wire/message.h"

namespace tarry::app {
namespace {

void print_listing(Invocation& invocation, const std::vector<MessageInfo>& messages,
                   const std::string& next) {
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().name("messages").begin_array();
      for (const MessageInfo& info : messages) {
        json.begin_object();
        wire::write_message_info(json, info, wire::Payload::left_out);
        json.end_object();
      }
      json.end_array().field_bool("more", !next.empty()).text_field("next", next).end_object();
    });
    return;
  }
  Table table({{"KEY", false, true},
               {"ID", true},
               {"STATE"},
               {"DUE"},
               {"ATTEMPT", true},
               {"PRIORITY", true},
               {"REASON", false, true}});
  for (const MessageInfo& info : messages) {
    const std::string id = std::to_string(info.id);
    const std::string state = state_text(info);
    const std::string due = info.state == State::remembered ? "" : time_text(info.due);
    const std::string attempt = std::to_string(info.attempt);
    const std::string priority = std::to_string(info.priority);
    table.add({info.key, id, state, due, attempt, priority, info.reason});
  }
  invocation.output.print(table);
  if (next.empty()) return;
  invocation.output.note(
      fmt::format("{} shown; continue with --after {}, or show more at once with --limit N.",
                  grouped(messages.size()), next));
}

}  // namespace

std::string state_text(const MessageInfo& info) {
  return std::string(to_string(info.state)) + (info.stopping ? ", stopping" : "");
}

Result<void> check_known(const Queue& queue) {
  const auto stats = queue.stats();
  if (!stats && stats.error().code == ErrorCode::not_found) return stats.error();
  return {};
}

void add_listing_words(CLI::App& command, ListingWords& into, bool with_state) {
  add_word(command, "QUEUE", into.queue, "The queue")->required();
  add_filter(command, into.filter);
  if (with_state) add_state(command, into.filter, true);
  add_number(command, "--limit", into.limit, 1, 1'000'000, "At most N messages (default: 100)");
  add_word(command, "--after", into.after, "Continue where an earlier ls ended, with its `next`");
}

ExitCode print_messages(Invocation& invocation, const ListingWords& words,
                        std::optional<State> state) {
  const auto filter = filter_of(words.filter);
  if (!filter) return invocation.output.fail(filter.error());
  const std::uint64_t limit = words.limit.value_or(100);
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue asked = store->queue(words.queue);
  std::vector<MessageInfo> messages;
  ListOptions options;
  options.state = state;
  options.prefix = filter->prefix;
  options.after = words.after.value_or("");
  do {
    options.limit =
        static_cast<std::uint32_t>(std::min(limit - messages.size(), std::uint64_t{1000}));
    auto page = asked.list(options);
    if (!page) return invocation.output.fail(page.error());
    std::ranges::copy_if(page->messages, std::back_inserter(messages),
                         [&](const MessageInfo& info) { return core::matches(*filter, info); });
    options.after = page->next;
  } while (!options.after.empty() && messages.size() < limit);
  if (!options.after.empty()) {
    // A full page may be the last one. Then the listing must not offer to continue.
    options.limit = 1;
    const auto more = asked.list(options);
    if (more && more->messages.empty() && more->next.empty()) options.after.clear();
  }
  if (messages.empty()) {
    if (const auto known = check_known(asked); !known) return invocation.output.fail(known.error());
  }
  print_listing(invocation, messages, options.after);
  return ExitCode::done;
}

}  // namespace tarry::app
