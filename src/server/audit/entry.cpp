#include "server/audit/entry.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace tarry::audit {
namespace {

using EntryPtr = std::unique_ptr<Entry>;

EntryPtr entry_with_keys(Act act, const std::string& queue, const std::vector<core::Slice>& keys,
                         const std::string& bytes) {
  auto entry = std::make_unique<Entry>(act, queue);
  entry->names = keys;
  entry->bytes = bytes;
  return entry;
}

EntryPtr entry_for(const core::CancelRequest& asked) {
  if (!asked.seen.empty()) return std::make_unique<Entry>(Act::move_away, asked.queue);
  return entry_with_keys(Act::cancel, asked.queue, asked.keys, asked.bytes);
}

EntryPtr entry_for(const core::RescheduleRequest& asked) {
  auto entry = entry_with_keys(Act::reschedule, asked.queue, {}, asked.bytes);
  entry->names.reserve(asked.items.size());
  for (const core::RescheduleItem& item : asked.items) entry->names.push_back(item.key);
  return entry;
}

EntryPtr entry_for(const core::ReviveRequest& asked) {
  auto entry = entry_with_keys(Act::revive, asked.queue, asked.keys, asked.bytes);
  entry->all = asked.all;
  return entry;
}

bool buries(const core::SettleItem& item) noexcept {
  return item.action == core::SettleAction::bury;
}

EntryPtr entry_for(const core::SettleRequest& asked) {
  if (std::ranges::none_of(asked.items, buries)) return nullptr;
  auto entry = std::make_unique<Entry>(Act::bury);
  // A place for each item, so that the answers find theirs; an empty name leaves no line.
  for (const core::SettleItem& item : asked.items) {
    const bool told = buries(item);
    entry->names.push_back(told ? core::append(entry->bytes, core::view(asked.bytes, item.receipt))
                                : core::Slice{});
  }
  return entry;
}

EntryPtr entry_for(const core::PauseRequest& asked) {
  auto entry = std::make_unique<Entry>(Act::pause, asked.queue);
  entry->until = asked.until;
  return entry;
}

EntryPtr entry_for(const core::ResumeRequest& asked) {
  return std::make_unique<Entry>(Act::resume, asked.queue);
}

EntryPtr entry_for(const core::PurgeRequest& asked) {
  return std::make_unique<Entry>(Act::purge, asked.queue);
}

EntryPtr entry_for(const core::RemoveRequest& asked) {
  auto entry = std::make_unique<Entry>(Act::remove, asked.queue);
  entry->force = asked.force;
  return entry;
}

EntryPtr entry_for(const core::ConfigureRequest& asked) {
  auto entry = std::make_unique<Entry>(Act::configure, asked.queue);
  entry->settings = asked.patch;
  return entry;
}

// A reshard takes many steps; only the first one is told.
EntryPtr entry_for(const core::ReshardRequest& asked) {
  if (asked.turn != 0) return nullptr;
  auto entry = std::make_unique<Entry>(Act::reshard, asked.queue);
  entry->shards = asked.shards;
  return entry;
}

EntryPtr entry_for(const core::MoveRequest& asked) {
  return std::make_unique<Entry>(Act::import_messages, asked.queue);
}

EntryPtr entry_for(const core::ClaimRequest& asked) { return entry_for(asked.settle); }

template <typename Other>
EntryPtr entry_for(const Other&) {
  return nullptr;
}

template <typename Item>
void count_item(Counts& counts, const Item& item) {
  if (!item.error) {
    ++counts.outcomes[static_cast<std::size_t>(item.outcome)];
    return;
  }
  ++counts.failed;
  if (!counts.error) counts.error = item.error->code;
}

template <typename Item>
Counts counts_of(const std::vector<Item>& items) {
  Counts counts;
  for (const Item& item : items) count_item(counts, item);
  return counts;
}

// A revive answers with a count only.
Counts counts_of_revived(std::uint64_t revived, std::uint64_t asked) {
  Counts counts;
  const std::uint64_t done = std::min(revived, asked);
  counts.outcomes[static_cast<std::size_t>(Outcome::revived)] = done;
  counts.outcomes[static_cast<std::size_t>(Outcome::unknown)] = asked - done;
  return counts;
}

bool has_counts_only(const Entry& entry) noexcept {
  return entry.page || entry.act == Act::move_away;
}

}  // namespace

std::unique_ptr<Entry> entry_of(const core::Request& request) {
  return std::visit([](const auto& asked) { return entry_for(asked); }, request);
}

void note_request(Entry& entry, const core::Request& request) {
  if (!entry.page) return;
  entry.replied = false;
  entry.page->matched = std::visit(
      [](const auto& asked) -> std::uint64_t {
        if constexpr (requires { asked.keys.size(); }) return asked.keys.size();
        if constexpr (requires { asked.items.size(); }) return asked.items.size();
        return 0;
      },
      request);
}

void note_reply(Entry& entry, const core::Reply& reply) {
  if (!entry.schedule.empty()) return;
  if (const auto* listed = std::get_if<core::ListReply>(&reply)) {
    if (!entry.page) return;
    entry.page->looked = listed->messages.size();
    entry.counts = Counts();
    entry.replied = true;  // until a verb is asked for
    return;
  }
  entry.replied = true;
  if (const auto* items = std::get_if<core::ItemsReply>(&reply)) {
    if (has_counts_only(entry)) {
      entry.counts = counts_of(items->items);
    } else {
      entry.ends = items->items;
    }
  } else if (const auto* claimed = std::get_if<core::ClaimReply>(&reply)) {
    entry.ends = claimed->settled;
  } else if (const auto* pushed = std::get_if<core::PushReply>(&reply)) {
    entry.counts = counts_of(pushed->items);
  } else if (const auto* count = std::get_if<core::CountReply>(&reply)) {
    if (entry.page) {
      entry.counts = counts_of_revived(count->count, entry.page->matched);
    } else if (entry.act != Act::pause && entry.act != Act::resume) {
      entry.count = count->count;
    }
  }
}

}  // namespace tarry::audit
