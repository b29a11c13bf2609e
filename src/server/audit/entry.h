// Entry: one request's act, from the request until its answer. The session makes it from the
// request to the engine; a front makes it only if the request never reaches the engine, or if one
// act takes several requests (Page).
//
// Thread safety: none.
//
// Invariants
//  1. An entry holds no payload and no header of a message.
//  2. It holds the names of at most core::kMaxBatch items.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/reply.h"
#include "core/request.h"
#include "core/rules/message_filter.h"
#include "server/audit/act.h"

namespace tarry::audit {

/// One page of a verb on many messages: the server lists a page, and acts on the messages that the
/// filter chooses.
struct Page {
  core::MessageFilter filter;
  std::optional<State> state;
  std::string after;              // where the page begins
  std::optional<Time> due = {};   // reschedule: the new due time of all
  std::optional<Millis> by = {};  // reschedule: how far each is moved
  std::uint64_t looked = 0;       // messages of the page
  std::uint64_t matched = 0;      // those of them that the filter chose
};

inline constexpr std::size_t kOutcomes = static_cast<std::size_t>(Outcome::stale) + 1;

/// How many items had each outcome.
struct Counts {
  std::array<std::uint64_t, kOutcomes> outcomes{};
  std::uint64_t failed = 0;
  std::optional<ErrorCode> error;  // the first
};

struct Entry {
  explicit Entry(Act what, std::string on = {}) : act(what), queue(std::move(on)) {}

  Act act;
  std::string queue;  // empty: the request names none

  // A schedule's name. Such an act takes several requests; the answer's status tells its end.
  std::string schedule = {};

  // A session of the console: its id, and the name of its token, if it is known. The answer's
  // status tells the end of such an act too.
  std::string session = {};
  std::string session_of = {};

  // The messages that the request names, by their keys or, for a bury, their receipts; one line
  // each. `ends` has the ends of as many items, once the engine has answered.
  std::vector<core::Slice> names = {};
  std::string bytes = {};
  std::vector<core::ItemResult> ends = {};
  /// Items that could not be read, so that their names are not known.
  std::size_t unreadable = 0;

  // For acts without a line for each message:
  std::optional<Page> page = {};
  std::optional<Counts> counts = {};
  std::optional<std::uint64_t> count = {};  // of messages: purge, remove, revive

  // Values that the request gives:
  std::optional<Time> until = {};            // pause
  bool all = false;                          // revive
  bool force = false;                        // remove
  std::optional<std::uint32_t> shards = {};  // reshard
  SettingsPatch settings = {};               // configure

  bool replied = false;  // the engine has carried the act out

  /// Whether the answer's status, not the engine, tells if the act was carried out.
  [[nodiscard]] bool ends_with_answer() const noexcept {
    return !schedule.empty() || !session.empty();
  }
};

/// The entry of a request that is an act; null for any other request.
[[nodiscard]] std::unique_ptr<Entry> entry_of(const core::Request& request);

/// Call it for each further request of a page.
void note_request(Entry& entry, const core::Request& request);

/// Call it when the engine has answered.
void note_reply(Entry& entry, const core::Reply& reply);

}  // namespace tarry::audit
