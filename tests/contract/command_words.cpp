#include "command_words.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "app/output/exit_codes.h"
#include "base/text/text.h"
#include "core/rules/headers.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/objective.h"
#include "core/settings/queue_limits.h"
#include "wire/claim.h"
#include "wire/forecast.h"
#include "wire/history.h"
#include "wire/message.h"
#include "wire/parts/batch.h"
#include "wire/parts/items.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/stats.h"

namespace tarry::contract {
namespace {

using Words = std::vector<std::string>;
using Answered = Result<core::Reply>;

Error no_command(const std::string& what) {
  return {ErrorCode::unsupported, "no command says " + what};
}

std::string ms_word(Millis duration) { return std::to_string(duration.count()) + "ms"; }
std::string ms_word(Time time) { return std::to_string(time.time_since_epoch().count()); }

void add_due(Words& words, const Due& due) {
  const std::string millis = std::to_string(due.millis());
  words.emplace_back(due.is_relative() ? "--in" : "--at");
  words.push_back(due.is_relative() ? millis + "ms" : millis);
}

std::string in_results(std::string_view answer) {
  return "{\"results\":[" + std::string(answer) + "]}";
}

/// The last line on stderr: {"error":{"code","message"}}.
Error error_on(const Ran& ran) {
  std::string_view text = ran.err;
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::string line(text.substr(text.rfind('\n') + 1));
  wire::Document document(line.size());
  if (!document.parse(line)) {
    wire::Fields fields(document.root(), "the error", wire::Unknown::refused);
    if (const auto error = wire::read_error(fields)) return *error;
  }
  return {ErrorCode::io_error,
          "exit code " + std::to_string(ran.code) + " with no error in JSON: " + ran.err};
}

app::ExitCode code_of(const core::ItemsReply& reply) {
  app::ExitCode code = app::ExitCode::done;
  for (const core::ItemResult& item : reply.items) {
    code = app::worst(code,
                      item.error ? app::exit_code(item.error->code) : app::exit_code(item.outcome));
  }
  return code;
}

/// Carries out one request by commands; each member function handles one kind of request. If the
/// library has refused all keys of a request before, there is nothing left to run.
class Speaker {
 public:
  explicit Speaker(const RunCommand& run) : run_(run) {}

  Answered operator()(const core::PushRequest& request) const {
    core::PushReply all;
    for (const core::PushItem& item : request.items) {
      const auto one = push(request, item);
      if (!one && request.items.size() == 1) return one.error();
      core::PushResult& result = all.items.emplace_back();
      if (!one) {
        result.error = one.error();
        continue;
      }
      result = one->items.front();
      result.key = core::append(all.bytes, core::view(one->bytes, result.key));
    }
    return core::Reply(std::move(all));
  }

  Answered operator()(const core::CancelRequest& request) const {
    if (!request.seen.empty()) return no_command("what a message was when it was seen");
    if (request.keys.empty()) return core::Reply(core::ItemsReply());
    Words words{"cancel", "--", request.queue};
    for (const core::Slice key : request.keys) words.emplace_back(core::view(request.bytes, key));
    return items(words);
  }

  Answered operator()(const core::RescheduleRequest& request) const {
    return each(request.items, [&](const core::RescheduleItem& item) {
      Words words{"reschedule"};
      add_due(words, item.due);
      add_priority(words, item.priority);
      words.insert(words.end(), {"--", request.queue, text(request.bytes, item.key)});
      return items(words);
    });
  }

  Answered operator()(const core::SettleRequest& request) const {
    return each(request.items, [&](const core::SettleItem& item) { return settle(request, item); });
  }

  Answered operator()(const core::ExtendRequest& request) const {
    return each(request.items, [&](const core::ExtendItem& item) {
      Words words{"extend"};
      if (item.lease) words.insert(words.end(), {"--lease", ms_word(*item.lease)});
      words.insert(words.end(), {"--", kAnyQueue, text(request.bytes, item.receipt)});
      return items(words);
    });
  }

  Answered operator()(const core::ClaimRequest& request) const {
    if (!request.keys.empty() || request.any_state) return no_command("a claim by key");
    Words words{"claim", "--max", std::to_string(request.max)};
    words.insert(words.end(), {"--wait", ms_word(request.wait)});
    words.insert(words.end(), {"--max-bytes", std::to_string(request.max_bytes)});
    if (request.lease) words.insert(words.end(), {"--lease", ms_word(*request.lease)});
    words.emplace_back("--");
    words.insert(words.end(), request.queues.begin(), request.queues.end());
    return read(words, [](const std::string& out) { return wire::decode_claim_reply(out); });
  }

  Answered operator()(const core::GetRequest& request) const {
    if (request.keys.empty()) return core::Reply(core::GetReply());
    if (request.with_history) return history(request);
    Words words{"get", "--", request.queue};
    for (const core::Slice key : request.keys) words.emplace_back(core::view(request.bytes, key));
    auto ran = run(words);
    if (!ran) return ran.error();
    if (ran->out.empty()) return error_of(*ran);
    auto reply = wire::decode_get_reply(request.keys.size() > 1 ? ran->out : in_results(ran->out));
    if (!reply) return unreadable(*ran, reply.error());
    app::ExitCode code = app::ExitCode::done;
    for (const Result<MessageInfo>& item : reply->items) {
      if (!item) code = app::worst(code, app::exit_code(item.error().code));
    }
    expect_code(*ran, code);
    return core::Reply(std::move(*reply));
  }

  Answered history(const core::GetRequest& request) const {
    core::GetReply all;
    for (const core::Slice key : request.keys) {
      const Words words{"history", "--", request.queue, text(request.bytes, key)};
      const auto one = read(words, [](const std::string& out) -> Result<core::GetReply> {
        auto history = wire::decode_history(out);
        if (!history) return std::move(history).error();
        MessageInfo info;
        info.history = *std::move(history);
        core::GetReply got;
        got.items.emplace_back(std::move(info));
        return got;
      });
      if (!one) {
        all.items.emplace_back(one.error());
      } else {
        all.items.push_back(std::get<core::GetReply>(*one).items.front());
      }
    }
    return core::Reply(std::move(all));
  }

  Answered operator()(const core::ListRequest& request) const {
    Words words{"ls", "--limit", std::to_string(request.limit)};
    if (!request.after.empty()) words.insert(words.end(), {"--after", request.after});
    if (request.state)
      words.insert(words.end(), {"--state", std::string(to_string(*request.state))});
    if (!request.prefix.empty()) words.insert(words.end(), {"--prefix", request.prefix});
    words.insert(words.end(), {"--", request.queue});
    return nothing_where_unknown(
        read(words, [](const std::string& out) { return wire::decode_list_reply(out); }),
        core::ListReply());
  }

  Answered operator()(const core::StatsRequest& request) const {
    const auto all = [](const std::string& out) { return wire::decode_store_stats(out); };
    if (request.queue.empty()) return read({"stats"}, all);
    return read({"queue", "info", "--", request.queue}, [&](const std::string& out) {
      return all("{\"engine\":\"remote\",\"queues\":[" + out + "]}");
    });
  }

  Answered operator()(const core::ForecastRequest& request) const {
    core::ForecastReply nothing;
    nothing.buckets.resize(request.buckets);
    Words words{"forecast", "--width", ms_word(request.width), "--buckets",
                std::to_string(request.buckets)};
    if (request.from) words.insert(words.end(), {"--from", ms_word(*request.from)});
    words.insert(words.end(), {"--", request.queue});
    return nothing_where_unknown(
        read(std::move(words),
             [](const std::string& out) { return wire::decode_forecast_reply(out); }),
        std::move(nothing));
  }

  Answered operator()(const core::ConfigureRequest& request) const {
    const SettingsPatch& patch = request.patch;
    Words words{"queue", "set"};
    const auto duration = [&](const char* flag, const std::optional<Millis>& value) {
      if (value) words.insert(words.end(), {flag, ms_word(*value)});
    };
    duration("--lease", patch.lease);
    duration("--backoff-min", patch.backoff_min);
    duration("--backoff-max", patch.backoff_max);
    duration("--remember", patch.remember);
    duration("--dead-keep", patch.dead_keep);
    if (patch.max_attempts) {
      words.insert(words.end(), {"--max-attempts", std::to_string(*patch.max_attempts)});
    }
    if (patch.if_exists) {
      words.insert(words.end(), {"--if-exists", std::string(to_string(*patch.if_exists))});
    }
    if (patch.objective) {
      words.insert(words.end(), {"--objective", core::objective_text(*patch.objective)});
    }
    duration("--expire", patch.expire);
    if (patch.on_expiry) {
      words.insert(words.end(), {"--on-expiry", std::string(to_string(*patch.on_expiry))});
    }
    if (patch.max_leased) {
      words.insert(words.end(), {"--max-leased", core::limit_text(*patch.max_leased)});
    }
    if (patch.rate) {
      words.insert(words.end(), {"--rate", core::delivery_rate_text(*patch.rate)});
    }
    if (patch.group) {
      words.insert(words.end(), {"--group", core::grouping_text(*patch.group)});
    }
    if (patch.group_max_leased) {
      words.insert(words.end(), {"--group-max-leased", core::limit_text(*patch.group_max_leased)});
    }
    if (patch.history) {
      words.insert(words.end(), {"--history", core::limit_text(*patch.history)});
    }
    if (patch.group_order) {
      words.insert(words.end(), {"--group-order", std::string(to_string(*patch.group_order))});
    }
    if (words.size() == 2) {
      // The command needs at least one setting. So read the settings of the queue, or, if there is
      // no queue yet, set the default of one.
      const Words info{"queue", "info", "--", request.queue};
      auto standing = read(info, settings_in);
      if (standing || standing.error().code != ErrorCode::not_found) return standing;
      words.insert(words.end(), {"--if-exists", "reject"});
    }
    words.insert(words.end(), {"--", request.queue});
    return read(words, settings_in);
  }

  Answered operator()(const core::PauseRequest& request) const {
    Words words{"queue", "pause"};
    if (request.until) words.insert(words.end(), {"--until", ms_word(*request.until)});
    words.insert(words.end(), {"--", request.queue});
    const auto ran = run(words);
    if (!ran) return ran.error();
    if (ran->out.empty()) return error_of(*ran);
    const auto reply = wire::decode_count(ran->out);
    if (!reply) return unreadable(*ran, reply.error());
    expect_code(*ran, reply->count > 0 ? app::ExitCode::done : app::ExitCode::failed);
    return core::Reply(*reply);
  }
  Answered operator()(const core::ResumeRequest& request) const {
    return read({"queue", "resume", "--", request.queue},
                [](const std::string& out) { return wire::decode_count(out); });
  }
  Answered operator()(const core::PurgeRequest& request) const {
    return count({"queue", "purge", "--yes", "--", request.queue}, "purged");
  }
  Answered operator()(const core::RemoveRequest& request) const {
    Words words{"queue", "rm", "--yes", "--", request.queue};
    if (request.force) words.insert(words.begin() + 2, "--force");
    return count(words, "removed");
  }

  Answered operator()(const core::ReviveRequest& request) const {
    if (request.all) return count({"dead", "revive", "--all", "--", request.queue}, "revived");
    Words words{"dead", "revive", "--", request.queue};
    for (const core::Slice key : request.keys) words.emplace_back(core::view(request.bytes, key));
    const Answered answered = items(words);
    if (!answered) return answered;
    core::CountReply reply;
    for (const core::ItemResult& item : std::get<core::ItemsReply>(*answered).items) {
      if (item.error && item.error->code != ErrorCode::conflict) return *item.error;
      if (item.outcome == Outcome::revived) ++reply.count;
    }
    return core::Reply(reply);
  }

  Answered operator()(const core::MoveRequest&) const { return no_command("a move"); }
  Answered operator()(const core::ReshardRequest&) const {
    return no_command("one step of resharding");
  }

 private:
  // A receipt names its queue, so the command accepts any queue name: the argument is only for
  // people.
  static constexpr const char* kAnyQueue = "q";

  static std::string text(const std::string& bytes, core::Slice slice) {
    return std::string(core::view(bytes, slice));
  }
  static void add_priority(Words& words, std::optional<std::uint32_t> priority) {
    if (priority) words.insert(words.end(), {"--priority", std::to_string(*priority)});
  }

  [[nodiscard]] Result<Ran> run(const Words& words, std::string_view input = {}) const {
    for (const std::string& word : words) {
      if (word.find('\0') != std::string::npos) return no_command("a zero byte");
    }
    return run_(words, input);
  }

  static void expect_code(const Ran& ran, app::ExitCode code) {
    EXPECT_EQ(ran.code, static_cast<int>(code)) << "stdout: " << ran.out << "stderr: " << ran.err;
  }
  static Error error_of(const Ran& ran) {
    Error error = error_on(ran);
    if (ran.code < 128) expect_code(ran, app::exit_code(error.code));
    return error;
  }
  static Error unreadable(const Ran& ran, const Error& why) {
    ADD_FAILURE() << "not the answer's JSON: " << why.message << ": " << ran.out;
    return {ErrorCode::damaged, "the command's answer cannot be read"};
  }

  /// Runs a command that prints its answer and exits with 0, or prints only an error.
  template <typename Decode>
  Answered read(const Words& words, Decode decode) const {
    const auto ran = run(words);
    if (!ran) return ran.error();
    if (ran->code != 0) {
      EXPECT_EQ(ran->out, "");
      return error_of(*ran);
    }
    auto reply = decode(ran->out);
    if (!reply) return unreadable(*ran, reply.error());
    return core::Reply(std::move(*reply));
  }

  /// If there is no such queue, the library answers an empty page or forecast, but the commands
  /// print an error.
  static Answered nothing_where_unknown(Answered answered, core::Reply nothing) {
    if (answered || answered.error().code != ErrorCode::not_found) return answered;
    return Answered(std::move(nothing));
  }

  /// Runs a command that prints one outcome for each of its arguments.
  Answered items(const Words& words) const {
    const auto ran = run(words);
    if (!ran) return ran.error();
    if (ran->out.empty()) return error_of(*ran);
    auto reply = wire::decode_items_reply(ran->out);
    if (!reply) return unreadable(*ran, reply.error());
    expect_code(*ran, code_of(*reply));
    return core::Reply(std::move(*reply));
  }

  /// One run for each item, because each item has its own flags.
  template <typename Items, typename One>
  Answered each(const Items& list, One one) const {
    core::ItemsReply all;
    for (const auto& item : list) {
      const Answered answered = one(item);
      if (!answered) {
        if (list.size() == 1 || answered.error().code == ErrorCode::unsupported) return answered;
        all.items.push_back({answered.error(), Outcome::unknown, {}, {}});
        continue;
      }
      const auto& got = std::get<core::ItemsReply>(*answered).items;
      EXPECT_EQ(got.size(), 1u);
      all.items.insert(all.items.end(), got.begin(), got.end());
    }
    return core::Reply(std::move(all));
  }

  Answered count(const Words& words, std::string_view field) const {
    return read(words, [&](const std::string& out) -> Result<core::CountReply> {
      wire::Document document(out.size());
      if (auto error = document.parse(out)) return *error;
      wire::Fields fields(document.root(), "the answer", wire::Unknown::ignored);
      fields.require(field);
      const core::CountReply reply{fields.u64(field).value_or(0)};
      if (auto error = fields.finish()) return *error;
      return reply;
    });
  }

  static Result<core::ConfigureReply> settings_in(const std::string& out) {
    wire::Document document(out.size());
    if (auto error = document.parse(out)) return *error;
    wire::Fields fields(document.root(), "the answer", wire::Unknown::ignored);
    fields.require("settings");
    const auto* settings = fields.any("settings");
    if (auto error = fields.finish()) return *error;
    wire::Fields inner(*settings, "\"settings\"", wire::Unknown::refused);
    core::ConfigureReply reply{wire::read_settings(inner)};
    if (auto error = inner.finish()) return *error;
    return reply;
  }

  [[nodiscard]] Result<core::PushReply> push(const core::PushRequest& request,
                                             const core::PushItem& item) const {
    Words words{"push"};
    add_due(words, item.due);
    const std::string_view key = core::view(request.bytes, item.key);
    if (!key.empty()) words.insert(words.end(), {"--key", std::string(key)});
    if (item.if_exists) {
      words.insert(words.end(), {"--if-exists", std::string(to_string(*item.if_exists))});
    }
    add_priority(words, item.priority);
    if (item.max_attempts != 0) {
      words.insert(words.end(), {"--max-attempts", std::to_string(item.max_attempts)});
    }
    if (item.expire) {
      words.insert(words.end(), {"--expire", base::format_duration_ms(item.expire->count())});
    }
    if (item.expire_at) {
      words.insert(words.end(), {"--expire-at",
                                 base::format_time_ms(item.expire_at->time_since_epoch().count())});
    }
    if (item.spread != Millis(0)) words.insert(words.end(), {"--spread", ms_word(item.spread)});
    const auto headers = core::decode_headers(core::view(request.bytes, item.headers));
    if (!headers) return headers.error();
    for (const Header& header : *headers) {
      words.insert(words.end(), {"--header", header.name + "=" + header.value});
    }
    words.insert(words.end(), {"--", request.queue, "-"});
    const auto ran = run(words, core::view(request.bytes, item.payload));
    if (!ran) return ran.error();
    if (ran->out.empty()) return error_of(*ran);
    auto reply = wire::decode_push_reply(in_results(ran->out));
    if (!reply) return unreadable(*ran, reply.error());
    expect_code(*ran, app::exit_code(reply->items.front().outcome));
    return reply;
  }

  [[nodiscard]] Answered settle(const core::SettleRequest& request,
                                const core::SettleItem& item) const {
    Words words;
    switch (item.action) {
      case core::SettleAction::ack: words = {"ack"}; break;
      case core::SettleAction::retry: words = {"retry"}; break;
      case core::SettleAction::release: words = {"release"}; break;
      case core::SettleAction::bury: words = {"bury"}; break;
      case core::SettleAction::move_away: return no_command("the end of a migration's claim");
    }
    if (item.delay) words.insert(words.end(), {"--in", ms_word(*item.delay)});
    if (item.reason.size > 0) {
      words.insert(words.end(), {"--reason", text(request.bytes, item.reason)});
    }
    add_priority(words, item.priority);
    words.insert(words.end(), {"--", kAnyQueue, text(request.bytes, item.receipt)});
    return items(words);
  }

  const RunCommand& run_;
};

}  // namespace

Result<core::Reply> say_on_command_line(const core::Request& request, const RunCommand& run) {
  return std::visit(Speaker(run), request);
}

}  // namespace tarry::contract
