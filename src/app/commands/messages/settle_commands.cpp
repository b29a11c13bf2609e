// tarry ack, retry, release, bury: end claims by their receipts. tarry extend: make one last
// longer.
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

ExitCode settle(Session& session, const SettleOptions& options) {
  ExitCode code{};
  auto store = session.open(code);
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
  if (!answers) return session.output.fail(answers.error());
  return print_answers(session.output, "receipt", options.receipts, *answers);
}

CLI::App& add(CLI::App& root, Session& session, tarry::Action action, const std::string& summary,
              const std::vector<std::string>& examples,
              const std::shared_ptr<SettleOptions>& options) {
  options->action = action;
  CLI::App& command = add_command(root, std::string(to_string(action)), summary, examples);
  add_word(command, "QUEUE", options->queue, "The queue")->required();
  add_words(command, "RECEIPT", options->receipts, "Receipts, as `tarry claim` printed them")
      ->required();
  set_action(command, session, [options](Session& given) { return settle(given, *options); });
  return command;
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

ExitCode extend(Session& session, const ExtendOptions& options) {
  ExitCode code{};
  auto store = session.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  std::vector<Result<Answer>> answers;
  for (const std::string& receipt : options.receipts) {
    answers.push_back(queue.extend(receipt, options.lease));
  }
  return print_answers(session.output, "receipt", options.receipts, answers);
}

}  // namespace

void add_settle_commands(CLI::App& root, Session& session) {
  using enum tarry::Action;
  {
    auto options = std::make_shared<SettleOptions>();
    add(root, session, ack, "End claims as done; the messages are not delivered again",
        {"tarry ack orders RECEIPT"}, options);
  }
  {
    auto options = std::make_shared<SettleOptions>();
    CLI::App& command =
        add(root, session, retry, "Deliver messages again after a delay; this attempt counts",
            {"tarry retry orders RECEIPT", "tarry retry orders RECEIPT --in 10s"}, options);
    add_duration(command, "--in", options->in, "The delay (default: the queue's backoff)");
    add_word(command, "--reason", options->reason, "The reason, kept if this was the last attempt");
    add_priority(command, *options);
  }
  {
    auto options = std::make_shared<SettleOptions>();
    CLI::App& command =
        add(root, session, release, "Give messages back: due now; this attempt does not count",
            {"tarry release orders RECEIPT"}, options);
    add_priority(command, *options);
  }
  {
    auto options = std::make_shared<SettleOptions>();
    CLI::App& command = add(root, session, bury, "Set messages aside, as dead",
                            {"tarry bury orders RECEIPT --reason 'no such order'"}, options);
    add_word(command, "--reason", options->reason, "The reason, up to 255 bytes");
    add_priority(command, *options);
  }
  {
    auto options = std::make_shared<ExtendOptions>();
    CLI::App& command =
        add_command(root, "extend", "Extend the leases of claims",
                    {"tarry extend orders RECEIPT", "tarry extend orders RECEIPT --lease 10m"});
    add_word(command, "QUEUE", options->queue, "The queue")->required();
    add_words(command, "RECEIPT", options->receipts, "Receipts, as `tarry claim` printed them")
        ->required();
    add_duration(command, "--lease", options->lease,
                 "Lease from now on, 1ms to 7d (default: the queue's)");
    set_action(command, session, [options](Session& given) { return extend(given, *options); });
  }
}

}  // namespace tarry::app
