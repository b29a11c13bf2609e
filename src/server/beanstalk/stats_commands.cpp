// Commands that list tubes and give figures.
#include <algorithm>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/stats_text.h"

namespace tarry::beanstalk {
namespace {

constexpr std::uint32_t kUrgent = 1024;  // priorities below it
// Urgent jobs are counted by listing; beyond so many ready jobs, not all are looked at.
constexpr std::uint64_t kMostCounted = 100'000;

bool has_jobs(const QueueStats& queue) noexcept {
  return queue.scheduled + queue.ready + queue.leased + queue.dead > 0;
}

void add_to(QueueStats& sum, const QueueStats& queue) noexcept {
  sum.ready += queue.ready;
  sum.leased += queue.leased;
  sum.scheduled += queue.scheduled;
  sum.dead += queue.dead;
  sum.counters.accepted += queue.counters.accepted;
  sum.counters.run_outs += queue.counters.run_outs;
}

}  // namespace

Next Commands::list_tubes() {
  return ask(core::StatsRequest(), [this](Result<core::Reply>& result) -> Next {
    if (!result) return fail(result.error());
    std::vector<std::string> names{std::string(kDefaultTube)};
    const auto add = [&](const std::string& name) {
      if (name != kDefaultTube && may(identity::Scope::read, name)) names.push_back(name);
    };
    const StoreStats& stats = std::get<StoreStats>(*result);
    for (const QueueStats& queue : stats.queues) {
      if (!is_tube_name(queue.queue)) continue;
      const bool is_open = shared_.tubes.is_open(queue.queue);
      shared_.tubes.at(queue.queue).seen = true;
      if (has_jobs(queue) || is_open) add(queue.queue);
    }
    for (const auto& [name, tube] : shared_.tubes.all()) {
      if (!tube.seen && tube.is_open()) add(name);
    }
    std::sort(names.begin() + 1, names.end());
    return say(ok(yaml_list(names)));
  });
}

Next Commands::count_urgent(std::vector<std::string> tubes, std::uint64_t counted,
                            base::UniqueFunction<Next(std::uint64_t)> then) {
  struct Counting {
    std::vector<std::string> tubes;
    core::ListRequest request;
    std::uint64_t looked = 0;
    std::uint64_t urgent = 0;
    base::UniqueFunction<Next(std::uint64_t)> then;
  };
  if (tubes.empty()) return then(counted);
  auto counting = std::make_shared<Counting>();
  counting->urgent = counted;
  counting->then = std::move(then);
  counting->request.queue = tubes.back();
  tubes.pop_back();
  counting->tubes = std::move(tubes);
  counting->request.state = State::ready;
  counting->request.limit = core::kMaxListLimit;
  const auto look = [counting](const auto& self) -> Next {
    return ask(core::ListRequest(counting->request),
               [counting, self](Result<core::Reply>& result) -> Next {
                 std::string next;
                 if (result) {
                   auto& page = std::get<core::ListReply>(*result);
                   for (const MessageInfo& info : page.messages) {
                     if (info.priority < kUrgent) ++counting->urgent;
                   }
                   counting->looked += page.messages.size();
                   next = std::move(page.next);
                 } else if (result.error().code != ErrorCode::not_found) {
                   return fail(result.error());
                 }
                 counting->request.after = next;
                 if (next.empty()) {
                   if (counting->tubes.empty()) return counting->then(counting->urgent);
                   counting->request.queue = std::move(counting->tubes.back());
                   counting->tubes.pop_back();
                 }
                 if (counting->looked >= kMostCounted) return counting->then(counting->urgent);
                 return self(self);
               });
  };
  return look(look);
}

Next Commands::stats_tube(const Command& command) {
  if (!may(identity::Scope::read, command.name)) return not_found();
  return with_tube(
      command.name, [this, name = std::string(command.name)](const QueueStats& queue) -> Next {
        std::vector<std::string> to_count;
        if (queue.ready > 0) to_count.push_back(name);
        return count_urgent(
            std::move(to_count), 0, [this, name, queue](std::uint64_t urgent) -> Next {
              const Tube none;
              const Tube* tube = shared_.tubes.find(name);
              return say(ok(yaml_of(TubeFigures{name, queue, tube != nullptr ? *tube : none, urgent,
                                                clocks_.wall_ms()})));
            });
      });
}

Next Commands::stats() {
  return ask(core::StatsRequest(), [this](Result<core::Reply>& result) -> Next {
    if (!result) return fail(result.error());
    auto figures = std::make_shared<ServerFigures>();
    std::vector<std::string> to_count;
    figures->tubes = 1;
    for (const QueueStats& queue : std::get<StoreStats>(*result).queues) {
      if (!is_tube_name(queue.queue) || !may(identity::Scope::read, queue.queue)) continue;
      const bool is_open = shared_.tubes.is_open(queue.queue);
      if (queue.queue != kDefaultTube && (has_jobs(queue) || is_open)) ++figures->tubes;
      shared_.tubes.at(queue.queue).seen = true;
      add_to(figures->sum, queue);
      if (queue.ready > 0) to_count.push_back(queue.queue);
    }
    for (const auto& [name, tube] : shared_.tubes.all()) {
      if (!tube.seen && tube.is_open() && name != kDefaultTube) ++figures->tubes;
    }
    figures->max_job = max_job_;
    figures->uptime_s = (clocks_.wall_ms() - shared_.started_ms) / 1000;
    figures->draining = host_.is_draining();
    figures->id = shared_.id;
    figures->counts = &shared_.counts;
    return count_urgent(std::move(to_count), 0, [figures](std::uint64_t urgent) -> Next {
      figures->urgent = urgent;
      return say(ok(yaml_of(*figures)));
    });
  });
}

}  // namespace tarry::beanstalk
