// tarry push: pushes one message, or with --jsonl a file of messages.
#include <unistd.h>

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/messages/bulk_push.h"
#include "app/output/json.h"
#include "app/system/line_reader.h"
#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::app {
namespace {

struct PushOptions {
  std::string queue;
  std::optional<std::string> payload;
  When when;
  std::optional<std::string> key;
  std::optional<IfExists> if_exists;
  std::optional<std::uint64_t> priority;
  std::optional<std::uint64_t> max_attempts;
  std::optional<Millis> expire;
  std::optional<Time> expire_at;
  std::optional<Millis> spread;
  std::vector<std::string> headers;
  std::optional<std::string> jsonl;

  [[nodiscard]] bool about_one_message() const {
    return payload || when.given() || key || priority || max_attempts || expire || expire_at ||
           spread || !headers.empty();
  }
};

Result<Headers> headers_from(const std::vector<std::string>& words) {
  Headers headers;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("--header {}: must be NAME=VALUE", base::quoted(word))};
    }
    headers.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return headers;
}

ExitCode push_one(Invocation& invocation, const PushOptions& options) {
  if (options.key && options.key->empty()) {
    return invocation.output.usage(
        "--key \"\": must be 1 to 512 bytes; leave --key out to have a key generated");
  }
  auto headers = headers_from(options.headers);
  if (!headers) return invocation.output.fail(headers.error());
  std::string payload = options.payload.value_or("");
  if (options.payload == "-") {
    auto read = read_all(STDIN_FILENO, core::kMaxMaxPayload);
    if (!read) return invocation.output.fail(read.error());
    payload = std::move(*read);
  }
  Push push;
  if (options.key) push.key = *options.key;
  push.payload = payload;
  push.due = options.when.due();
  push.headers = std::move(*headers);
  if (options.priority) push.priority = static_cast<std::uint32_t>(*options.priority);
  if (options.max_attempts) push.max_attempts = static_cast<std::uint32_t>(*options.max_attempts);
  push.if_exists = options.if_exists;
  push.expire = options.expire;
  push.expire_at = options.expire_at;
  push.spread = options.spread.value_or(push.spread);

  ExitCode code{};
  auto store = invocation.open(code, {.create = true});
  if (!store) return code;
  auto pushed = store->queue(options.queue).push(push);
  if (!pushed) return invocation.output.fail(pushed.error());
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object();
      write_fields(json, *pushed);
      json.end_object();
    });
  } else {
    Table table({{"OUTCOME"}, {"KEY", false, true}, {"ID", true}, {"DUE"}});
    const std::string id = pushed->id == 0 ? "" : std::to_string(pushed->id);
    const std::string due = pushed->id == 0 ? "" : time_text(pushed->due);
    table.add({to_string(pushed->outcome), pushed->key, id, due});
    invocation.output.print(table);
  }
  invocation.note_if_fleeting();
  return exit_code(pushed->outcome);
}

ExitCode push_messages(Invocation& invocation, const PushOptions& options) {
  if (!options.jsonl) return push_one(invocation, options);
  if (options.about_one_message()) {
    return invocation.output.usage(
        "with --jsonl every line has its own payload, key, time and headers: the only other flag "
        "allowed is --if-exists");
  }
  BulkPush bulk;
  bulk.queue = options.queue;
  bulk.file = *options.jsonl;
  bulk.if_exists = options.if_exists;
  return bulk_push(invocation, bulk);
}

}  // namespace

void add_push_command(CLI::App& root, Invocation& invocation) {
  const auto [push, options] = add_command(root, invocation, "push", push_messages, R"(
Push a message with its due time; without --in or --at it is due now

  tarry push orders '{"order": 42}' --key order:42 --in 30m
  tarry push mails --at 2030-01-31T09:00:00+01:00 - < mail.txt
  tarry push orders --key order:42 --in 1h --if-exists replace
  tarry push orders --jsonl orders.jsonl)");
  add_word(push, "QUEUE", options.queue, "The queue; the first push creates it")->required();
  add_word(push, "PAYLOAD", options.payload, "The payload; - reads it from standard input");
  add_when(push, options.when);
  add_word(push, "--key", options.key,
           "Your name for the message; used to cancel or reschedule it\n"
           "(default: generated)");
  add_rule(push, "--if-exists", options.if_exists,
           "What to do if the key is taken (default: the queue's)");
  add_number(push, "--priority", options.priority, 0, UINT32_MAX,
             "Among due messages, lower goes first (default: 1024)");
  add_number(push, "--max-attempts", options.max_attempts, 1, core::kMaxAttempts,
             "Give up (dead) after N attempts (default: the queue's)");
  auto* expire = add_duration(push, "--expire", options.expire,
                              "End undelivered this long after it is due (default: the queue's)");
  add_time(push, "--expire-at", options.expire_at, "End undelivered at this time")
      ->excludes(expire);
  add_duration(push, "--spread", options.spread,
               "Due up to this later, when the queue has least to do (default: 0s)");
  add_words(push, "--header", options.headers, "May be repeated")->type_name("NAME=VALUE");
  add_word(push, "--jsonl", options.jsonl,
           "Push the messages in FILE (- for standard input), one JSON object a line")
      ->type_name("FILE");
}

}  // namespace tarry::app
