#include "wire/bulk.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/text/text.h"
#include "core/limits.h"
#include "core/rules/headers.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"
#include "wire/parts/batch.h"
#include "wire/parts/headers.h"

namespace tarry::wire {
namespace {

constexpr std::uint32_t kMaxBulkLimit = 1'000;  // of one request

Error bad_bulk(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

bool is_of_the_dead(BulkAction action) noexcept {
  return action == BulkAction::revive || action == BulkAction::remove;
}

/// Checks for fields that contradict each other or are missing.
MaybeError check_bulk(const BulkRequest& bulk) {
  if (bulk.action != BulkAction::reschedule) {
    if (!bulk.due && !bulk.by) return std::nullopt;
    return bad_bulk("\"due\" and \"by\" go with the action \"reschedule\" only");
  }
  if (bulk.due.has_value() == bulk.by.has_value()) {
    return bad_bulk("\"reschedule\" needs either \"due\" or \"by\"");
  }
  if (!bulk.by) return std::nullopt;
  const core::MessageFilter& filter = bulk.filter;
  if (!filter.due_from || !filter.due_to) {
    return bad_bulk(
        "\"by\" needs \"due_from\" and \"due_to\": otherwise messages could be moved twice");
  }
  const Millis range = *filter.due_to - *filter.due_from;
  const Millis step = bulk.by->count() < 0 ? -*bulk.by : *bulk.by;
  if (step >= range) return std::nullopt;
  return bad_bulk("\"by\" is " + base::format_duration_ms(bulk.by->count()) +
                  "; it must be at least as long as from \"due_from\" to \"due_to\", which is " +
                  base::format_duration_ms(range.count()) +
                  ": otherwise messages could be moved twice");
}

void read_filter(Fields& fields, core::MessageFilter& filter) {
  std::string scratch;
  filter.prefix = fields.bytes("prefix", "prefix_base64", scratch).value_or("");
  filter.due_from = fields.moment("due_from", "due_from_ms");
  filter.due_to = fields.moment("due_to", "due_to_ms");
  filter.reason = fields.bytes("reason", "reason_base64", scratch).value_or("");
  if (const HeaderFields given = take_headers(fields); given.given()) {
    auto headers = read_headers(given);
    const auto bounded = headers ? core::encode_headers(*headers) : headers.error();
    if (bounded) {
      filter.headers = *std::move(headers);
    } else {
      fields.fail(bounded.error());
    }
  }
  if (filter.due_from && filter.due_to && *filter.due_from >= *filter.due_to) {
    fields.fail(bad_bulk("\"due_from\" must be before \"due_to\""));
  }
}

using Counts = std::array<std::uint64_t, static_cast<std::size_t>(Outcome::stale) + 1>;

struct Tallied {
  Counts outcomes{};
  std::uint64_t failed = 0;
  std::optional<Error> error;  // the first
};

Tallied tally(const core::Reply& reply, std::uint64_t asked) {
  Tallied all;
  if (const auto* items = std::get_if<core::ItemsReply>(&reply)) {
    for (const core::ItemResult& item : items->items) {
      if (!item.error) {
        ++all.outcomes[static_cast<std::size_t>(item.outcome)];
        continue;
      }
      ++all.failed;
      if (!all.error) all.error = *item.error;
    }
  } else if (const auto* count = std::get_if<core::CountReply>(&reply)) {
    const std::uint64_t done = std::min(count->count, asked);
    all.outcomes[static_cast<std::size_t>(Outcome::revived)] = done;
    all.outcomes[static_cast<std::size_t>(Outcome::unknown)] = asked - done;
  }
  return all;
}

}  // namespace

std::string_view to_string(BulkAction action) noexcept {
  switch (action) {
    case BulkAction::cancel: return "cancel";
    case BulkAction::reschedule: return "reschedule";
    case BulkAction::revive: return "revive";
    case BulkAction::remove: return "remove";
  }
  return "";
}

Result<BulkRequest> decode_bulk(std::string queue, std::string_view body) {
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  BulkRequest bulk;
  std::string scratch;
  const auto action = fields.choice("action", {BulkAction::cancel, BulkAction::reschedule,
                                               BulkAction::revive, BulkAction::remove});
  fields.require("action");
  const auto state =
      fields.choice("state", {State::scheduled, State::ready, State::leased, State::dead});
  read_filter(fields, bulk.filter);
  bulk.due = fields.moment("due", "due_ms");
  bulk.by = fields.signed_duration("by", "by_ms");
  bulk.dry_run = fields.boolean("dry_run").value_or(false);
  bulk.page.after = fields.bytes("after", "after_base64", scratch).value_or("");
  bulk.page.limit =
      static_cast<std::uint32_t>(fields.number("limit", 1, kMaxBulkLimit).value_or(kMaxBulkLimit));
  if (MaybeError error = fields.finish()) return *error;
  bulk.action = *action;
  if (MaybeError error = check_bulk(bulk)) return *error;
  const bool dead = is_of_the_dead(bulk.action) || (!state && !bulk.filter.reason.empty());
  if (is_of_the_dead(bulk.action) && state && *state != State::dead) {
    return bad_bulk("\"" + std::string(to_string(bulk.action)) +
                    "\" is for the state \"dead\" only");
  }
  bulk.page.queue = std::move(queue);
  bulk.page.state = dead ? State::dead : state;
  bulk.page.prefix = bulk.filter.prefix;
  bulk.page.whole = true;
  return bulk;
}

std::vector<const MessageInfo*> chosen(const BulkRequest& request, const core::ListReply& page) {
  std::vector<const MessageInfo*> messages;
  std::unordered_set<std::string_view> met;
  for (const MessageInfo& info : page.messages) {
    // If the request names no state, live messages match. Dead and remembered messages are included
    // only if their state is named.
    const bool is_out = info.state == State::dead || info.state == State::remembered;
    if (!request.page.state && is_out) continue;
    if (!core::matches(request.filter, info)) continue;
    if (request.due && info.due == *request.due) continue;  // it has this due time already
    if (met.insert(info.key).second) messages.push_back(&info);
  }
  return messages;
}

core::Request verb_of(const BulkRequest& request, const std::vector<const MessageInfo*>& messages) {
  const std::string& queue = request.page.queue;
  if (request.action == BulkAction::reschedule) {
    core::RescheduleRequest verb{queue, {}, {}};
    for (const MessageInfo* info : messages) {
      const Time to = request.due ? *request.due : info->due + *request.by;
      const std::int64_t ms =
          std::clamp<std::int64_t>(to.time_since_epoch().count(), 0, base::kMaxTimeMs);
      core::RescheduleItem& item = verb.items.emplace_back();
      item.key = core::append(verb.bytes, info->key);
      item.due = Due::at(Time(Millis(ms)));
    }
    return verb;
  }
  const auto fill = [&](auto verb) {
    verb.queue = queue;
    for (const MessageInfo* info : messages) {
      verb.keys.push_back(core::append(verb.bytes, info->key));
    }
    return core::Request(std::move(verb));
  };
  return request.action == BulkAction::revive ? fill(core::ReviveRequest{})
                                              : fill(core::CancelRequest{});
}

std::string encode_bulk_reply(const BulkPage& page, const core::Reply* reply) {
  const Tallied all = reply != nullptr ? tally(*reply, page.matched) : Tallied{};
  std::string text;
  JsonWriter out(text);
  out.begin_object().field("looked", page.looked).field("matched", page.matched);
  out.name("outcomes").begin_object();
  for (const Outcome outcome :
       {Outcome::cancelled, Outcome::rescheduled, Outcome::stopping, Outcome::in_flight,
        Outcome::revived, Outcome::settled, Outcome::unknown}) {
    const std::uint64_t count = all.outcomes[static_cast<std::size_t>(outcome)];
    if (count > 0) out.field(to_string(outcome), count);
  }
  out.end_object().field("failed", all.failed);
  if (all.error) write_error(out, *all.error);
  out.bytes_field("next", page.next).end_object();
  return text;
}

}  // namespace tarry::wire
