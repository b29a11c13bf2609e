// tarry ack, retry, release, bury: end claims by their receipts. tarry extend: extends the lease of
// a claim.
#include <memory>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/answers.h"

namespace tarry::app {
namespace {

struct SettleOptions {
  tarry::Action action = tarry::Action::ack;
  std::string queue;
  std::vector<std::string> receipts;
  std::optional<Millis> in;
  std::optional<std::string> reason;
  std::optional<std::uint64_t> priority;
};

ExitCode settle(Invocation& invocation, const SettleOptions& options) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  std::vector<Settle> items;
  for (const std::string& receipt : options.receipts) {
    Settle& item = items.emplace_back();
    item.receipt = receipt;
    item.action = options.action;
    item.delay = options.in;
    if (options.reason) item.reason = *options.reason;
    if (options.priority) item.priority = static_cast<std::uint32_t>(*options.priority);
  }
  const auto answers = store->queue(options.queue).settle(items);
  if (!answers) return invocation.output.fail(answers.error());
  return print_answers(invocation.output, "receipt", options.receipts, *answers);
}

CommandWithWords<SettleOptions> add(CLI::App& root, Invocation& invocation, tarry::Action action,
                                    const std::string& help) {
  const auto added = add_command(root, invocation, std::string(to_string(action)), settle, help);
  added.words.action = action;
  add_word(added.command, "QUEUE", added.words.queue, "The queue")->required();
  add_words(added.command, "RECEIPT", added.words.receipts,
            "Receipts, as `tarry claim` printed them")
      ->required();
  return added;
}

void add_priority(CLI::App& command, SettleOptions& options) {
  add_number(command, "--priority", options.priority, 0, UINT32_MAX,
             "Another priority from now on (default: unchanged)");
}

struct ExtendOptions {
  std::string queue;
  std::vector<std::string> receipts;
  std::optional<Millis> lease;
};

ExitCode extend(Invocation& invocation, const ExtendOptions& options) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  std::vector<Result<Answer>> answers;
  for (const std::string& receipt : options.receipts) {
    answers.push_back(queue.extend(receipt, options.lease));
  }
  return print_answers(invocation.output, "receipt", options.receipts, answers);
}

}  // namespace

void add_settle_commands(CLI::App& root, Invocation& invocation) {
  using enum tarry::Action;
  add(root, invocation, ack, R"(
End claims as done; the messages are not delivered again

  tarry ack orders RECEIPT)");
  {
    const auto [command, options] = add(root, invocation, retry, R"(
Deliver messages again after a delay; this attempt counts

  tarry retry orders RECEIPT
  tarry retry orders RECEIPT --in 10s)");
    add_duration(command, "--in", options.in, "The delay (default: the queue's backoff)");
    add_word(command, "--reason", options.reason, "The reason, kept if this was the last attempt");
    add_priority(command, options);
  }
  {
    const auto [command, options] = add(root, invocation, release, R"(
Give messages back: due now; this attempt does not count

  tarry release orders RECEIPT)");
    add_priority(command, options);
  }
  {
    const auto [command, options] = add(root, invocation, bury, R"(
Set messages aside, as dead

  tarry bury orders RECEIPT --reason 'no such order')");
    add_word(command, "--reason", options.reason, "The reason, up to 255 bytes");
    add_priority(command, options);
  }
  const auto [command, options] = add_command(root, invocation, "extend", extend, R"(
Extend the leases of claims

  tarry extend orders RECEIPT
  tarry extend orders RECEIPT --lease 10m)");
  add_word(command, "QUEUE", options.queue, "The queue")->required();
  add_words(command, "RECEIPT", options.receipts, "Receipts, as `tarry claim` printed them")
      ->required();
  add_duration(command, "--lease", options.lease,
               "Lease from now on, 1ms to 7d (default: the queue's)");
}

}  // namespace tarry::app
