// Commands about a tube: its first jobs, kick and pause; and the dispatch of all commands.
#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/job_headers.h"
#include "server/beanstalk/job_ids.h"
#include "server/beanstalk/stats_text.h"

namespace tarry::beanstalk {
namespace {

// The engine lists messages in no order, so the first ones are found by looking at all. Beyond so
// many pages, those that were looked at must do.
constexpr std::size_t kMostPages = 10;
// The most jobs that one kick moves.
constexpr std::uint32_t kMostKicked = core::kMaxBatch;
constexpr std::size_t kMostWatched = core::kMaxClaimQueues;

bool ready_before(const MessageInfo& a, const MessageInfo& b) {
  return std::tie(a.priority, a.due, a.id) < std::tie(b.priority, b.due, b.id);
}
bool due_before(const MessageInfo& a, const MessageInfo& b) {
  return std::tie(a.due, a.id) < std::tie(b.due, b.id);
}
bool buried_before(const MessageInfo& a, const MessageInfo& b) {
  return std::tie(a.kept_until, a.id) < std::tie(b.kept_until, b.id);
}

}  // namespace

/// Looks for the first messages of a state.
struct Commands::Scan {
  core::ListRequest request = {};
  Before before = nullptr;
  std::size_t most = 1;
  Listed listed = {};
  std::vector<MessageInfo> first = {};
  std::size_t pages = 0;
};

Next Commands::scan(std::string_view tube, State state, Before before, std::size_t most,
                    Listed listed) {
  auto scan = std::make_shared<Scan>();
  scan->request.queue = tube;
  scan->request.state = state;
  scan->request.limit = core::kMaxListLimit;
  scan->before = before;
  scan->most = most;
  scan->listed = std::move(listed);
  return look(std::move(scan));
}

Next Commands::look(std::shared_ptr<Scan> scan) {
  return ask(core::ListRequest(scan->request), [this, scan](Result<core::Reply>& result) -> Next {
    if (!result) {
      if (result.error().code == ErrorCode::not_found) return scan->listed({});
      return fail(result.error());
    }
    auto& page = std::get<core::ListReply>(*result);
    for (MessageInfo& info : page.messages) scan->first.push_back(std::move(info));
    const std::size_t kept = std::min(scan->most, scan->first.size());
    std::ranges::partial_sort(scan->first, scan->first.begin() + static_cast<std::ptrdiff_t>(kept),
                              scan->before);
    scan->first.resize(kept);
    if (page.next.empty() || ++scan->pages == kMostPages) {
      return scan->listed(std::move(scan->first));
    }
    scan->request.after = page.next;
    return look(scan);
  });
}

Next Commands::peek_first(State state, Before before) {
  const std::string& tube = client_.used();
  if (!may(identity::Scope::read, tube)) return forbidden();
  return scan(tube, state, before, 1, [this, tube](std::vector<MessageInfo> first) -> Next {
    if (first.empty()) return not_found();
    const std::uint64_t job = job_of(tube, first.front().key, first.front().id);
    if (!is_key_of_job(job)) static_cast<void>(shared_.notes.at(job, tube, first.front().key));
    core::GetRequest request;
    request.queue = tube;
    request.keys.push_back(core::append(request.bytes, first.front().key));
    return ask(std::move(request), [job](Result<core::Reply>& result) -> Next {
      if (!result) return fail(result.error());
      const Result<MessageInfo>& item = std::get<core::GetReply>(*result).items.front();
      if (!item || item->state == State::remembered) return not_found();
      Next next;
      append_job(next.reply, "FOUND", job, item->payload);
      return next;
    });
  });
}

Next Commands::kick(const Command& command) {
  const std::string& tube = client_.used();
  if (!may(identity::Scope::push, tube)) return forbidden();
  const std::size_t most = std::min(command.count, kMostKicked);
  if (most == 0) return say(numbered("KICKED", 0));
  return scan(tube, State::dead, buried_before, most,
              [this, tube, most](std::vector<MessageInfo> buried) -> Next {
                if (!buried.empty()) return kick_all(tube, std::move(buried), State::dead);
                return scan(tube, State::scheduled, due_before, most,
                            [this, tube](std::vector<MessageInfo> delayed) -> Next {
                              return kick_all(tube, std::move(delayed), State::scheduled);
                            });
              });
}

// The engine counts only revivals.
void Commands::note_kick(std::string_view tube, const MessageInfo& job) {
  ++shared_.notes.at(job_of(tube, job.key, job.id), tube, job.key).kicks;
}

Next Commands::kick_all(std::string tube, std::vector<MessageInfo> jobs, State state) {
  if (jobs.empty()) return say(numbered("KICKED", 0));
  core::RescheduleRequest request;
  request.queue = tube;
  for (const MessageInfo& job : jobs) {
    request.items.emplace_back().key = core::append(request.bytes, job.key);
  }
  const Outcome wanted = state == State::dead ? Outcome::revived : Outcome::rescheduled;
  return ask(std::move(request),
             [this, wanted, tube = std::move(tube),
              jobs = std::move(jobs)](Result<core::Reply>& result) -> Next {
               if (!result) return fail(result.error());
               const auto& items = std::get<core::ItemsReply>(*result).items;
               std::uint64_t kicked = 0;
               for (std::size_t i = 0; i < items.size(); ++i) {
                 if (items[i].error || items[i].outcome != wanted) continue;
                 ++kicked;
                 if (wanted == Outcome::rescheduled) note_kick(tube, jobs[i]);
               }
               return say(numbered("KICKED", kicked));
             });
}

Next Commands::pause(const Command& command) {
  if (!may(identity::Scope::admin, command.name)) return forbidden();
  return with_tube(
      command.name,
      [this, name = std::string(command.name), seconds = command.delay](const QueueStats&) -> Next {
        const std::int64_t until = clocks_.wall_ms() + delay_of(seconds).count();
        core::Request request = core::ResumeRequest{name};
        if (seconds > 0) request = core::PauseRequest{name, Time(Millis(until))};
        return ask(std::move(request),
                   [this, name, seconds, until](Result<core::Reply>& result) -> Next {
                     if (!result) return fail(result.error());
                     Tube& tube = shared_.tubes.at(name);
                     ++tube.pauses;
                     tube.seen = true;
                     tube.pause_s = seconds;
                     tube.paused_until_ms = until;
                     return say("PAUSED\r\n");
                   });
      });
}

Next Commands::with_tube(std::string_view tube,
                         base::UniqueFunction<Next(const QueueStats&)> then) {
  core::StatsRequest request;
  request.queue = tube;
  return ask(std::move(request),
             [this, name = std::string(tube),
              then = std::move(then)](Result<core::Reply>& result) mutable -> Next {
               QueueStats none;
               const QueueStats* queue = &none;
               if (result) {
                 const auto& queues = std::get<StoreStats>(*result).queues;
                 if (!queues.empty()) queue = &queues.front();
               } else if (result.error().code != ErrorCode::not_found) {
                 return fail(result.error());
               }
               if (queue->scheduled + queue->ready + queue->leased + queue->dead == 0 &&
                   !shared_.tubes.is_open(name)) {
                 return not_found();
               }
               return then(*queue);
             });
}

Next Commands::run(const Command& command) {
  using identity::Scope;
  switch (command.verb) {
    case Verb::put: return put(command);
    case Verb::peek: return peek(command);
    case Verb::peek_ready: return peek_first(State::ready, ready_before);
    case Verb::peek_delayed: return peek_first(State::scheduled, due_before);
    case Verb::peek_buried: return peek_first(State::dead, buried_before);
    case Verb::reserve:
    case Verb::reserve_with_timeout: return reserve(command);
    case Verb::reserve_job: return reserve_job(command);
    case Verb::erase:
    case Verb::release:
    case Verb::bury: return settle(command);
    case Verb::kick: return kick(command);
    case Verb::kick_job: return kick_job(command);
    case Verb::touch: return touch(command);
    case Verb::stats: return stats();
    case Verb::stats_job: return stats_job(command);
    case Verb::stats_tube: return stats_tube(command);
    case Verb::use: client_.use(command.name); return say("USING " + client_.used() + "\r\n");
    case Verb::watch:
      if (client_.watched().size() == kMostWatched) return say(std::string(kOutOfMemory), 507);
      client_.watch(command.name);
      return say(numbered("WATCHING", client_.watched().size()));
    case Verb::ignore:
      if (!client_.ignore(command.name)) return say("NOT_IGNORED\r\n", 409);
      return say(numbered("WATCHING", client_.watched().size()));
    case Verb::list_tubes: return list_tubes();
    case Verb::list_tube_used: return say("USING " + client_.used() + "\r\n");
    case Verb::list_tubes_watched: return say(ok(yaml_list(client_.watched())));
    case Verb::pause_tube: return pause(command);
    case Verb::put_key: return put_key(command);
    case Verb::cancel_key: return cancel_key(command);
    case Verb::reschedule_key: return reschedule_key(command);
    case Verb::auth:
    case Verb::quit:
    case Verb::unknown: break;
  }
  return say("UNKNOWN_COMMAND\r\n", 400);
}

}  // namespace tarry::beanstalk
