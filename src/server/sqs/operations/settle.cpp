// DeleteMessage, ChangeMessageVisibility, and their batches. A receipt handle is a receipt of
// tarry, or names a message that waits: "key:NAME".
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "server/sqs/operations/batch.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/message_text.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::int64_t kLongestExtension = 43'200;

enum class Verb : std::uint8_t { remove, show };

/// One message to delete, or whose visibility to change.
struct Item {
  std::string id;  // of its entry; empty: there is no batch
  std::string handle;
  std::int64_t seconds = 0;  // show
  MaybeFault fault = {};     // set: why it was not done
};
using Items = std::vector<Item>;

/// The four requests that items may need. Each has the places of its items.
enum class Part : std::uint8_t { settle, extend, cancel, reschedule };
constexpr std::size_t kParts = 4;

Part part_of(const Item& item, Verb verb) {
  const bool by_key = key_in(item.handle).has_value();
  if (verb == Verb::remove) return by_key ? Part::cancel : Part::settle;
  if (by_key) return Part::reschedule;
  return item.seconds == 0 ? Part::settle : Part::extend;
}

MaybeFault read_item(const Call& call, const json::object& from, Verb verb,
                     const std::string& queue, Item& item) {
  Reader params(from);
  item.handle = params.required("ReceiptHandle");
  const auto key = key_in(item.handle);
  if (verb == Verb::show) {
    const bool may_be_long = key && !call.service.strict;
    const std::int64_t most = may_be_long ? core::kMaxDelayMs / 1000 : kLongestExtension;
    const auto seconds = params.number("VisibilityTimeout", 0, most);
    if (!seconds && !params.fault()) params.fail(missing("VisibilityTimeout"));
    item.seconds = seconds.value_or(0);
  }
  if (params.fault()) return params.fault();
  // Who may not push may not cancel or move by key either.
  if (key) return check_scope(call, identity::Scope::push, queue);
  return check_scope(call, identity::Scope::consume, queue);
}

Fault named(std::string_view code, std::string message) {
  Fault fault = invalid_value(std::move(message));
  fault.code_here = code;
  return fault;
}

/// Why the item's request changed nothing; nothing if it did.
MaybeFault fault_by(const core::ItemResult& result, Verb verb) {
  if (result.error) {
    // What is not of the form of a receipt names nothing.
    if (result.error->code == ErrorCode::invalid_argument) {
      return Fault{Kind::not_a_receipt, "The input receipt handle is invalid."};
    }
    return fault_of(*result.error);
  }
  switch (result.outcome) {
    case Outcome::stale:
      // SQS answers a repeated delete as the first one.
      if (verb == Verb::remove) return std::nullopt;
      return Fault{Kind::not_in_flight,
                   "The message is not in flight: it was deleted, or its visibility timeout "
                   "ended."};
    case Outcome::unknown:
      return Fault{Kind::not_a_receipt, "No message has the key that the receipt handle names."};
    case Outcome::settled:
      return named("tarry.settled", "The message was settled, and is remembered.");
    case Outcome::in_flight:
      return named("tarry.in_flight", "A delivery of the message is running; nothing changed.");
    case Outcome::stopping:
      return named("tarry.stopping", "The running delivery may finish; no other one will begin.");
    default: break;
  }
  return std::nullopt;
}

core::Request request_of(Part part, Verb verb, const std::string& queue, const Items& items,
                         const std::vector<std::size_t>& places) {
  const auto only = std::make_shared<const std::vector<std::string>>(1, queue);
  core::SettleRequest settle;
  core::ExtendRequest extend;
  core::CancelRequest cancel;
  core::RescheduleRequest reschedule;
  for (const std::size_t place : places) {
    const Item& item = items[place];
    const auto key = key_in(item.handle).value_or(std::string_view());
    const Millis span(item.seconds * 1000);
    switch (part) {
      case Part::settle: {
        core::SettleItem one;
        one.receipt = core::append(settle.bytes, item.handle);
        one.action = verb == Verb::remove ? core::SettleAction::ack : core::SettleAction::retry;
        if (verb == Verb::show) one.delay = Millis(0);
        settle.items.push_back(one);
        break;
      }
      case Part::extend: {
        core::ExtendItem one;
        one.receipt = core::append(extend.bytes, item.handle);
        one.lease = span;
        extend.items.push_back(one);
        break;
      }
      case Part::cancel: cancel.keys.push_back(core::append(cancel.bytes, key)); break;
      case Part::reschedule: {
        core::RescheduleItem one;
        one.key = core::append(reschedule.bytes, key);
        one.due = Due::after(span);
        reschedule.items.push_back(one);
        break;
      }
    }
  }
  settle.only_queues = only;
  extend.only_queues = only;
  cancel.queue = queue;
  reschedule.queue = queue;
  switch (part) {
    case Part::settle: return settle;
    case Part::extend: return extend;
    case Part::cancel: return cancel;
    case Part::reschedule: break;
  }
  return reschedule;
}

/// Carries out one kind of request after the other, and then makes the answer.
struct Work {
  CallPtr call;
  std::string queue;
  Verb verb;
  Items items;
  std::size_t next_part = 0;
};
using WorkPtr = std::shared_ptr<Work>;

Step answer_of_items(const Items& items) {
  if (items.size() == 1 && items.front().id.empty()) {
    if (items.front().fault) return *items.front().fault;
    return Fields();
  }
  BatchAnswer answer;
  for (const Item& item : items) {
    if (item.fault) {
      answer.failed(item.id, *item.fault);
    } else {
      answer.succeeded(item.id);
    }
  }
  return answer.take();
}

Step go_on(const WorkPtr& work) {
  while (work->next_part < kParts) {
    const Part part = static_cast<Part>(work->next_part++);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < work->items.size(); ++i) {
      const Item& item = work->items[i];
      if (!item.fault && part_of(item, work->verb) == part) places.push_back(i);
    }
    if (places.empty()) continue;
    core::Request request = request_of(part, work->verb, work->queue, work->items, places);
    return ask(std::move(request),
               [work, places = std::move(places)](Result<core::Reply>& result) -> Step {
                 const auto* reply = result ? std::get_if<core::ItemsReply>(&*result) : nullptr;
                 for (std::size_t i = 0; i < places.size(); ++i) {
                   Item& item = work->items[places[i]];
                   if (!result) {
                     item.fault = fault_of(result.error());
                   } else if (reply == nullptr || i >= reply->items.size()) {
                     item.fault = Fault{Kind::internal, "the engine lost an item"};
                   } else {
                     item.fault = fault_by(reply->items[i], work->verb);
                   }
                 }
                 return go_on(work);
               });
  }
  return answer_of_items(work->items);
}

Step run(const CallPtr& call, Verb verb, bool is_batch) {
  Reader params(call->params);
  const auto work = std::make_shared<Work>(
      Work{call, std::string(name_in_url(params.required("QueueUrl"))), verb, {}});
  if (params.fault()) return *params.fault();
  if (!is_queue_name(work->queue)) return no_such_queue();
  if (!is_batch) {
    Item& item = work->items.emplace_back();
    item.fault = read_item(*call, call->params, verb, work->queue, item);
  } else {
    std::vector<Entry> entries;
    if (auto fault = read_entries(call->params, entries)) return *std::move(fault);
    for (Entry& entry : entries) {
      Item& item = work->items.emplace_back();
      item.id = std::move(entry.id);
      item.fault = read_item(*call, *entry.params, verb, work->queue, item);
    }
  }
  return with_queue(call, work->queue, [work](const QueueInfoPtr&) { return go_on(work); });
}

}  // namespace

Step delete_message(const CallPtr& call) { return run(call, Verb::remove, false); }
Step delete_message_batch(const CallPtr& call) { return run(call, Verb::remove, true); }
Step change_visibility(const CallPtr& call) { return run(call, Verb::show, false); }
Step change_visibility_batch(const CallPtr& call) { return run(call, Verb::show, true); }

}  // namespace tarry::sqs
