// Requests and replies as text, with every field. Round-trip tests compare these texts. The structs
// have no ==, because equal bytes may have different slices.
#pragma once

#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "core/reply.h"
#include "core/request.h"
#include "core/rules/headers.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/objective.h"

namespace tarry::testing {

class Text {
 public:
  [[nodiscard]] std::string str() const { return out_.str(); }

  Text& add(std::string_view name, std::string_view bytes) {
    out_ << ' ' << name << '=' << bytes.size() << ':' << bytes;
    return *this;
  }
  Text& add(std::string_view name, std::int64_t value) {
    out_ << ' ' << name << '=' << value;
    return *this;
  }
  Text& add(std::string_view name, std::uint64_t value) {
    out_ << ' ' << name << '=' << value;
    return *this;
  }
  Text& add(std::string_view name, std::uint32_t value) { return add(name, std::uint64_t{value}); }
  Text& add(std::string_view name, bool value) { return add(name, std::uint64_t{value}); }
  Text& add(std::string_view name, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return add(name, std::string_view(digits));
  }
  Text& add(std::string_view name, Millis value) { return add(name, value.count()); }
  Text& add(std::string_view name, Time value) { return add(name, value.time_since_epoch()); }
  Text& add(std::string_view name, Due due) {
    return add(due.is_relative() ? "delay" : "due", due.millis()).add(name, due.is_relative());
  }
  Text& add(std::string_view name, const Tallies& t) {
    return add(name, std::string_view())
        .add("", t.claims)
        .add("", t.run_outs)
        .add("", t.releases)
        .add("", t.buries)
        .add("", t.revives);
  }
  Text& add(std::string_view name, const Settlement& s) {
    return add(name, to_string(s.how)).add("when", s.when);
  }
  Text& add(std::string_view name, const Error& error) {
    return add(name, to_string(error.code)).add("message", error.message);
  }
  Text& add(std::string_view name, const Headers& headers) {
    for (const Header& header : headers) add(name, header.name).add("", header.value);
    return *this;
  }
  Text& add(std::string_view name, const QueueSettings& s) {
    return add(name, s.lease)
        .add("", s.max_attempts)
        .add("", s.backoff_min)
        .add("", s.backoff_max)
        .add("", s.remember)
        .add("", s.dead_keep)
        .add("", to_string(s.if_exists))
        .add("", core::objective_text(s.objective))
        .add("", s.expire)
        .add("", to_string(s.on_expiry))
        .add("", s.max_leased)
        .add("", core::delivery_rate_text(s.rate))
        .add("", core::grouping_text(s.group))
        .add("", s.group_max_leased)
        .add("", s.history)
        .add("", to_string(s.group_order));
  }
  Text& add(std::string_view name, core::SettleAction action) {
    return add(name, static_cast<std::uint64_t>(action));
  }
  Text& add(std::string_view name, IfExists rule) { return add(name, to_string(rule)); }
  Text& add(std::string_view name, State state) { return add(name, to_string(state)); }
  template <typename T>
  Text& add(std::string_view name, const std::optional<T>& value) {
    if (value) return add(name, *value);
    return add(name, std::string_view("-"));
  }
  Text& line(std::string_view kind) {
    out_ << '\n' << kind;
    return *this;
  }

 private:
  std::ostringstream out_;
};

inline std::string text_of(const core::Request& request) {
  Text t;
  struct Visitor {
    Text& t;
    void item(const core::PushItem& i, const std::string& bytes) const {
      t.line("item").add("key", core::view(bytes, i.key));
      t.add("payload", core::view(bytes, i.payload));
      t.add("headers", core::view(bytes, i.headers)).add("due", i.due);
      t.add("priority", i.priority).add("max_attempts", i.max_attempts);
      t.add("if_exists", i.if_exists).add("expire", i.expire).add("at", i.expire_at);
      t.add("spread", i.spread);
    }
    void operator()(const core::PushRequest& r) const {
      t.line("push").add("queue", r.queue);
      for (const auto& i : r.items) item(i, r.bytes);
    }
    void keys(const std::vector<core::Slice>& keys, const std::string& bytes) const {
      for (const core::Slice key : keys) t.add("key", core::view(bytes, key));
    }
    void operator()(const core::CancelRequest& r) const {
      t.line("cancel").add("queue", r.queue);
      keys(r.keys, r.bytes);
      for (const core::Seen& seen : r.seen) {
        t.line("seen").add("id", seen.id).add("due", seen.due_ms).add("priority", seen.priority);
        t.add("claims", seen.claims).add("dead", seen.dead);
      }
    }
    void operator()(const core::RescheduleRequest& r) const {
      t.line("reschedule").add("queue", r.queue);
      for (const auto& i : r.items) {
        t.line("item").add("key", core::view(r.bytes, i.key)).add("due", i.due);
        t.add("priority", i.priority);
      }
    }
    void operator()(const core::ClaimRequest& r) const {
      t.line("claim").add("any", r.any_state).add("max", r.max).add("max_bytes", r.max_bytes);
      t.add("lease", r.lease).add("wait", r.wait);
      for (const auto& queue : r.queues) t.add("queue", queue);
      for (const auto& key : r.keys) t.add("key", key);
      (*this)(r.settle);
    }
    void operator()(const core::SettleRequest& r) const {
      t.line("settle");
      for (const auto& i : r.items) {
        t.line("item").add("receipt", core::view(r.bytes, i.receipt)).add("action", i.action);
        t.add("delay", i.delay).add("priority", i.priority);
        t.add("reason", core::view(r.bytes, i.reason));
      }
    }
    void operator()(const core::ExtendRequest& r) const {
      t.line("extend");
      for (const auto& i : r.items) {
        t.line("item").add("receipt", core::view(r.bytes, i.receipt)).add("lease", i.lease);
      }
    }
    void operator()(const core::GetRequest& r) const {
      t.line("get").add("queue", r.queue).add("payload", r.with_payload);
      t.add("history", r.with_history);
      keys(r.keys, r.bytes);
    }
    void operator()(const core::ListRequest& r) const {
      t.line("list").add("queue", r.queue).add("state", r.state).add("after", r.after);
      t.add("prefix", r.prefix).add("limit", r.limit);
    }
    void operator()(const core::StatsRequest& r) const {
      t.line("stats").add("queue", r.queue).add("names_only", r.names_only);
    }
    void operator()(const core::ForecastRequest& r) const {
      t.line("forecast").add("queue", r.queue).add("width", r.width).add("buckets", r.buckets);
    }
    void operator()(const core::ConfigureRequest& r) const {
      t.line("configure").add("queue", r.queue).add("lease", r.patch.lease);
      t.add("attempts", r.patch.max_attempts).add("min", r.patch.backoff_min);
      t.add("max", r.patch.backoff_max).add("remember", r.patch.remember);
      t.add("keep", r.patch.dead_keep).add("if_exists", r.patch.if_exists);
      t.add("expire", r.patch.expire).add("max_leased", r.patch.max_leased);
      if (r.patch.rate) t.add("rate", core::delivery_rate_text(*r.patch.rate));
      if (r.patch.group) t.add("group", core::grouping_text(*r.patch.group));
      t.add("group_max_leased", r.patch.group_max_leased);
      t.add("history", r.patch.history);
      if (r.patch.group_order) t.add("group_order", to_string(*r.patch.group_order));
      if (r.patch.on_expiry) t.add("on_expiry", to_string(*r.patch.on_expiry));
      if (r.patch.objective) t.add("objective", core::objective_text(*r.patch.objective));
    }
    void operator()(const core::PauseRequest& r) const {
      t.line("pause").add("queue", r.queue).add("until", r.until);
    }
    void operator()(const core::ResumeRequest& r) const { t.line("resume").add("queue", r.queue); }
    void operator()(const core::PurgeRequest& r) const { t.line("purge").add("queue", r.queue); }
    void operator()(const core::RemoveRequest& r) const {
      t.line("remove").add("queue", r.queue).add("force", r.force);
    }
    void operator()(const core::ReviveRequest& r) const {
      t.line("revive").add("queue", r.queue).add("all", r.all);
      keys(r.keys, r.bytes);
    }
    void operator()(const core::MoveRequest& r) const {
      t.line("move").add("queue", r.queue);
      for (const auto& i : r.items) {
        item(i.push, r.bytes);
        t.add("attempt", i.attempt).add("tallies", i.tallies).add("dead", i.dead);
        t.add("pushed", i.pushed_ms);
        t.add("reason", core::view(r.bytes, i.reason));
      }
    }
    void operator()(const core::ReshardRequest& r) const {
      t.line("reshard").add("queue", r.queue).add("shards", r.shards).add("turn", r.turn);
    }
  };
  std::visit(Visitor{t}, request);
  return t.str();
}

inline void add_info(Text& t, const MessageInfo& m) {
  t.line("message").add("id", m.id).add("queue", m.queue).add("key", m.key).add("state", m.state);
  t.add("stopping", m.stopping).add("due", m.due).add("priority", m.priority);
  t.add("attempt", m.attempt)
      .add("max", m.max_attempts)
      .add("expire", m.expire)
      .add("at", m.expire_at)
      .add("tallies", m.tallies)
      .add("left", m.lease_left);
  t.add("settlement", m.settlement).add("kept", m.kept_until).add("pushed", m.pushed);
  t.add("reason", m.reason)
      .add("group", m.group)
      .add("group_leased", m.group_leased)
      .add("group_waits", m.group_waits);
  t.add("history", m.history.limit);
  for (const MessageEvent& event : m.history.events) {
    t.add("event", std::string(to_string(event.kind))).add("at", event.at);
    t.add("attempt", event.attempt).add("due", event.due);
    t.add("why", event.reason).add("by", event.by);
  }
  t.add("paused", m.paused).add("until", m.paused_until).add("holder", m.holder);
  t.add("headers", m.headers).add("payload", m.payload);
}

inline std::string text_of(const core::Reply& reply) {
  Text t;
  struct Visitor {
    Text& t;
    void operator()(const core::PushReply& r) const {
      for (const auto& i : r.items) {
        t.line("pushed").add("error", i.error).add("outcome", to_string(i.outcome));
        t.add("id", i.id).add("due", i.due_ms).add("key", core::view(r.bytes, i.key));
      }
    }
    void operator()(const core::ItemsReply& r) const {
      for (const auto& i : r.items) {
        t.line("item").add("error", i.error).add("outcome", to_string(i.outcome));
        t.add("due", i.due_ms).add("settlement", i.settlement);
      }
    }
    void operator()(const core::ClaimReply& r) const {
      for (const auto& i : r.items) {
        t.line("claimed").add("queue", core::view(r.bytes, i.queue));
        t.add("key", core::view(r.bytes, i.key)).add("payload", core::view(r.bytes, i.payload));
        t.add("headers", core::view(r.bytes, i.headers));
        t.add("receipt", core::view(r.bytes, i.receipt)).add("id", i.id).add("due", i.due_ms);
        t.add("claimed", i.claimed_ms).add("lease", i.lease_ms).add("attempt", i.attempt);
        t.add("priority", i.priority).add("tallies", i.tallies);
      }
      (*this)(core::ItemsReply{r.settled});
      if (r.claim_error) t.line("failed").add("error", r.claim_error);
    }
    void operator()(const core::GetReply& r) const {
      for (const auto& i : r.items) {
        if (i) {
          add_info(t, *i);
        } else {
          t.line("none").add("error", i.error());
        }
      }
    }
    void operator()(const core::ListReply& r) const {
      for (const auto& m : r.messages) add_info(t, m);
      t.line("next").add("next", r.next);
    }
    void operator()(const StoreStats& s) const {
      t.line("store").add("engine", s.engine).add("served", s.served).add("durable", s.durable);
      t.add("count", s.lateness.count);
      t.add("p50", s.lateness.p50).add("p99", s.lateness.p99).add("p999", s.lateness.p999);
      t.add("max", s.lateness.max).add("disk", s.disk_bytes).add("live", s.live_bytes);
      t.add("syncs", s.syncs);
      for (const auto& q : s.queues) {
        t.line("queue").add("queue", q.queue).add("settings", q.settings);
        t.add("scheduled", q.scheduled).add("ready", q.ready).add("leased", q.leased);
        t.add("dead", q.dead).add("remembered", q.remembered).add("waiting", q.waiting_claims);
        t.add("paused", q.paused).add("until", q.paused_until);
        t.add("oldest", q.oldest_ready).add("next", q.rate_next);
        t.add("groups", q.groups_ready).add("held", q.groups_held);
        if (const auto& kept = q.objective) {
          t.add("burning", kept->burning).add("overdue", kept->overdue).add("claims", kept->claims);
          t.add("late", kept->late).add("", kept->late_engine).add("", kept->late_unclaimed);
          t.add("", kept->late_paused).add("", kept->late_limited);
        }
        const auto& c = q.counters;
        for (const std::uint64_t n : {c.accepted, c.acked, c.cancelled, c.replaced, c.expired,
                                      c.purged, c.moved_away, c.claims, c.retries, c.releases,
                                      c.run_outs, c.buries, c.revives, c.reschedules, c.damaged}) {
          t.add("c", n);
        }
      }
      for (const auto& q : s.unreadable) {
        t.line("unreadable")
            .add("queue", q.queue)
            .add("code", std::string(to_string(q.error.code)));
        t.add("message", q.error.message);
      }
    }
    void operator()(const core::ForecastReply& r) const {
      t.line("forecast").add("now", r.due_now).add("later", r.later);
      for (const std::uint64_t count : r.buckets) t.add("bucket", count);
    }
    void operator()(const core::ConfigureReply& r) const {
      t.line("configured").add("settings", r.settings);
    }
    void operator()(const core::CountReply& r) const { t.line("count").add("count", r.count); }
    void operator()(const ReshardStep& r) const {
      t.line("reshard").add("turn", r.turn).add("from", r.from).add("to", r.to);
      t.add("done", r.done).add("changed", r.changed).add("moved", r.moved).add("left", r.left);
      t.add("leased", r.leased).add("waits_for", r.waits_for);
    }
  };
  std::visit(Visitor{t}, reply);
  return t.str();
}

}  // namespace tarry::testing
