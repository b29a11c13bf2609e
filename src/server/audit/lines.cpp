#include "server/audit/lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "wire/json/json_writer.h"
#include "wire/parts/headers.h"
#include "wire/parts/problem.h"
#include "wire/queue.h"

namespace tarry::audit {
namespace {

using wire::JsonWriter;

constexpr unsigned kFirstFailure = 500;
constexpr unsigned kUnsupported = 501;
// These statuses say what is wrong with the body, and may quote it.
bool may_quote_the_body(unsigned status) noexcept {
  constexpr unsigned kForbidden = 403;
  constexpr unsigned kMissing = 404;
  constexpr unsigned kConflict = 409;
  constexpr unsigned kNoToken = 401;
  constexpr unsigned kTooMany = 429;
  return status < kFirstFailure && status != kForbidden && status != kMissing &&
         status != kConflict && status != kNoToken && status != kTooMany;
}

std::string_view outcome_of_error(unsigned status, std::string_view code) noexcept {
  constexpr std::string_view kUnknown = to_string(ErrorCode::unknown_outcome);
  if (code == kUnknown) return kUnknown;
  return status >= kFirstFailure && status != kUnsupported ? "failed" : "refused";
}

/// Writes one line after another, and hands them on in pieces.
class Pieces {
 public:
  explicit Pieces(const TakeLines& take) : take_(take) {}
  ~Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  /// The members that begin every line.
  void begin_with(std::string_view act, const Client& client, Time now) {
    JsonWriter out(head_);
    out.begin_object();
    out.field("time", base::format_time_ms(now.time_since_epoch().count())).field("act", act);
    if (!client.identity.empty()) out.text_field("identity", client.identity);
    out.text_field("peer", client.address).text_field("front", client.front);
    out.text_field("request_id", client.request_id);
  }
  /// A line with the members that `write` writes.
  template <typename Write>
  void line(Write write) {
    rest_.clear();
    JsonWriter out(rest_);
    out.begin_object();
    write(out);
    out.end_object();
    rest_.front() = ',';
    lines_.append(head_).append(rest_).push_back('\n');
    ++count_;
    if (lines_.size() >= kPiece) flush();
  }
  void flush() {
    if (count_ == 0) return;
    take_(lines_, std::exchange(count_, 0));
    lines_.clear();
  }

 private:
  const TakeLines& take_;
  std::string head_;
  std::string rest_;
  std::string lines_;
  std::size_t count_ = 0;
};

void write_queue(JsonWriter& out, const Entry& entry) {
  if (!entry.queue.empty()) out.bytes_field("queue", entry.queue);
}

void write_name(JsonWriter& out, const Entry& entry, core::Slice name) {
  const std::string_view text = core::view(entry.bytes, name);
  out.bytes_field(entry.act == Act::bury ? "receipt" : "key", text);
}

void write_counts(JsonWriter& out, const Counts& counts) {
  out.name("outcomes").begin_object();
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    if (counts.outcomes[i] > 0) out.field(to_string(static_cast<Outcome>(i)), counts.outcomes[i]);
  }
  out.end_object().field("failed", counts.failed);
  if (counts.error) out.field("code", to_string(*counts.error));
}

void write_page(JsonWriter& out, const Page& page) {
  out.name("filter").begin_object();
  const core::MessageFilter& filter = page.filter;
  if (page.state) out.field("state", to_string(*page.state));
  if (!filter.prefix.empty()) out.bytes_field("prefix", filter.prefix);
  if (filter.due_from) out.time_field("due_from", *filter.due_from);
  if (filter.due_to) out.time_field("due_to", *filter.due_to);
  if (!filter.headers.empty()) wire::write_headers(out, filter.headers);
  if (!filter.reason.empty()) out.bytes_field("reason", filter.reason);
  out.end_object();
  if (page.due) out.time_field("due", *page.due);
  if (page.by) out.millis_field("by", page.by->count());
  if (!page.after.empty()) out.bytes_field("after", page.after);
}

// The fields that the request asks for, without its outcome.
void write_asked(JsonWriter& out, const Entry& entry) {
  write_queue(out, entry);
  if (!entry.schedule.empty()) out.text_field("schedule", entry.schedule);
  if (!entry.session.empty()) out.text_field("session", entry.session);
  if (!entry.session_of.empty()) out.text_field("session_of", entry.session_of);
  if (entry.page) write_page(out, *entry.page);
  if (entry.until) out.time_field("until", *entry.until);
  if (entry.all) out.field_bool("all", true);
  if (entry.force) out.field_bool("force", true);
  if (entry.shards) out.field("shards", std::uint64_t{*entry.shards});
  if (entry.settings == SettingsPatch()) return;
  out.name("settings").begin_object();
  wire::write_changes(out, entry.settings);
  out.end_object();
}

void write_refusal(JsonWriter& out, const Answer& answer) {
  constexpr unsigned kFirstRefusal = 400;
  const bool gone = answer.status == 0;
  if (!gone && answer.status < kFirstRefusal) {
    // The answer has an error for each item, because none could be read.
    out.field("outcome", "refused").field("code", to_string(ErrorCode::invalid_argument));
    return;
  }
  out.field("outcome", outcome_of_error(gone ? kFirstFailure : answer.status, answer.code));
  if (gone) {
    out.field_bool("answered", false);
  } else {
    out.field("status", std::uint64_t{answer.status});
  }
  if (!answer.code.empty()) out.text_field("code", answer.code);
  if (!answer.reason.empty() && !may_quote_the_body(answer.status)) {
    out.text_field("reason", answer.reason);
  }
}

void write_answered(JsonWriter& out, const Answer& answer) {
  if (answer.status == 0) out.field_bool("answered", false);
}

void write_end(JsonWriter& out, const core::ItemResult& end) {
  if (end.error) {
    const std::string_view code = to_string(end.error->code);
    out.field("outcome", outcome_of_error(wire::status_of(end.error->code), code));
    out.field("code", code);
    return;
  }
  out.field("outcome", to_string(end.outcome));
  if (end.due_ms) out.time_field("due", *end.due_ms);
}

// A revive answers only how many of the keys it has revived.
void write_revived(JsonWriter& out, std::uint64_t revived, std::uint64_t asked) {
  if (revived == 0) {
    out.field("outcome", to_string(Outcome::unknown));
  } else if (revived >= asked) {
    out.field("outcome", to_string(Outcome::revived));
  } else {
    out.field("outcome", "partly").field("count", revived).field("of", asked);
  }
}

void write_names(Pieces& pieces, const Entry& entry, const Answer& answer) {
  for (std::size_t i = 0; i < entry.names.size(); ++i) {
    if (entry.names[i].size == 0) continue;
    pieces.line([&](JsonWriter& out) {
      write_queue(out, entry);
      write_name(out, entry, entry.names[i]);
      if (!entry.replied) {
        write_refusal(out, answer);
        return;
      }
      if (entry.act == Act::revive) {
        write_revived(out, entry.count.value_or(0), entry.names.size());
      } else if (i < entry.ends.size()) {
        write_end(out, entry.ends[i]);
      } else {
        out.field("outcome", "unknown_outcome");
      }
      write_answered(out, answer);
    });
  }
}

bool is_carried_out(const Entry& entry, const Answer& answer) noexcept {
  constexpr unsigned kFirstProblem = 400;
  return entry.ends_with_answer() ? answer.status < kFirstProblem : entry.replied;
}

void write_whole(Pieces& pieces, const Entry& entry, const Answer& answer) {
  pieces.line([&](JsonWriter& out) {
    write_asked(out, entry);
    if (entry.ends_with_answer() && answer.status == 0) {
      out.field("outcome", to_string(ErrorCode::unknown_outcome)).field_bool("answered", false);
      return;
    }
    if (!is_carried_out(entry, answer)) {
      write_refusal(out, answer);
      return;
    }
    out.field("outcome", to_string(Outcome::done));
    if (entry.page) out.field("looked", entry.page->looked).field("matched", entry.page->matched);
    if (entry.counts) write_counts(out, *entry.counts);
    if (entry.count) out.field("count", *entry.count);
    write_answered(out, answer);
  });
}

}  // namespace

void write_lines(const Entry& entry, const Client& client, const Answer& answer, Time now,
                 const TakeLines& take) {
  Pieces pieces(take);
  pieces.begin_with(to_string(entry.act), client, now);
  const bool only_unreadable = entry.unreadable > 0 && entry.names.empty() && !entry.counts;
  if (!entry.names.empty()) {
    write_names(pieces, entry, answer);
  } else if (!only_unreadable) {
    write_whole(pieces, entry, answer);
  }
  if (entry.unreadable > 0) {
    pieces.line([&](JsonWriter& out) {
      write_queue(out, entry);
      out.field("outcome", "refused");
      out.field("code", to_string(ErrorCode::invalid_argument));
      out.field("items", std::uint64_t{entry.unreadable});
    });
  }
  pieces.flush();
}

void write_refused_token(const Client& client, const Answer& answer, std::uint64_t left_out,
                         Time now, const TakeLines& take) {
  Pieces pieces(take);
  pieces.begin_with(to_string(Act::token_refused), client, now);
  pieces.line([&](JsonWriter& out) {
    write_refusal(out, answer);
    if (left_out > 0) out.field("left_out", left_out);
  });
  pieces.flush();
}

}  // namespace tarry::audit
