#include "server/beanstalk/stats_text.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "server/beanstalk/job_headers.h"

namespace tarry::beanstalk {
namespace {

class Yaml {
 public:
  Yaml& add(std::string_view name, std::string_view value) {
    text_ += name;
    text_ += ": ";
    text_ += value;
    text_ += '\n';
    return *this;
  }
  template <typename Number>
  Yaml& add_number(std::string_view name, Number value) {
    return add(name, std::to_string(value));
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_ = "---\n";
};

std::string_view state_word(State state) noexcept {
  switch (state) {
    case State::scheduled: return "delayed";
    case State::ready: return "ready";
    case State::leased: return "reserved";
    case State::dead: return "buried";
    case State::remembered: break;
  }
  return "invalid";
}

// The engine counts claims, and how most of them ended. The others were released, with or without
// a delay.
std::uint32_t releases_of(const MessageInfo& info, const JobNote& note) noexcept {
  const Tallies& tallies = info.tallies;
  const std::uint32_t running = info.state == State::leased ? 1 : 0;
  const std::uint32_t others = tallies.run_outs + tallies.buries + note.closes + running;
  return tallies.claims > others ? tallies.claims - others : 0;
}

std::int64_t left_s(const JobFigures& figures) noexcept {
  const MessageInfo& info = figures.info;
  if (info.state == State::leased) return info.lease_left ? info.lease_left->count() / 1000 : 0;
  if (info.state != State::scheduled) return 0;
  return std::max<std::int64_t>(0, info.due.time_since_epoch().count() - figures.now_ms) / 1000;
}

std::string seconds_of(const timeval& time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%ld.%06ld", static_cast<long>(time.tv_sec),
                static_cast<long>(time.tv_usec));
  return text.data();
}

constexpr std::array<std::pair<std::string_view, Verb>, 19> kCounted = {{
    {"cmd-put", Verb::put},
    {"cmd-peek", Verb::peek},
    {"cmd-peek-ready", Verb::peek_ready},
    {"cmd-peek-delayed", Verb::peek_delayed},
    {"cmd-peek-buried", Verb::peek_buried},
    {"cmd-reserve", Verb::reserve},
    {"cmd-reserve-with-timeout", Verb::reserve_with_timeout},
    {"cmd-delete", Verb::erase},
    {"cmd-release", Verb::release},
    {"cmd-use", Verb::use},
    {"cmd-watch", Verb::watch},
    {"cmd-ignore", Verb::ignore},
    {"cmd-bury", Verb::bury},
    {"cmd-kick", Verb::kick},
    {"cmd-touch", Verb::touch},
    {"cmd-stats", Verb::stats},
    {"cmd-stats-job", Verb::stats_job},
    {"cmd-stats-tube", Verb::stats_tube},
    {"cmd-list-tubes", Verb::list_tubes},
}};

}  // namespace

std::string yaml_of(const JobFigures& figures) {
  const MessageInfo& info = figures.info;
  const std::int64_t pushed =
      info.pushed ? info.pushed->time_since_epoch().count() : figures.now_ms;
  Yaml yaml;
  yaml.add_number("id", figures.job)
      .add("tube", figures.tube)
      .add("state", state_word(info.state))
      .add_number("pri", info.priority)
      .add_number("age", std::max<std::int64_t>(0, figures.now_ms - pushed) / 1000)
      .add_number("delay", figures.note.delay_s.value_or(delay_of(info.headers)))
      .add_number("ttr", ttr_of(info.headers))
      .add_number("time-left", left_s(figures))
      .add_number("file", 0)
      .add_number("reserves", info.tallies.claims)
      .add_number("timeouts", info.tallies.run_outs)
      .add_number("releases", releases_of(info, figures.note))
      .add_number("buries", info.tallies.buries)
      .add_number("kicks", info.tallies.revives + figures.note.kicks);
  return std::move(yaml).text();
}

std::string yaml_of(const TubeFigures& figures) {
  const QueueStats& queue = figures.queue;
  const Tube& tube = figures.tube;
  const std::int64_t left = tube.paused_until_ms - figures.now_ms;
  const bool is_paused = queue.paused && left > 0;
  Yaml yaml;
  yaml.add("name", figures.name)
      .add_number("current-jobs-urgent", figures.urgent)
      .add_number("current-jobs-ready", queue.ready)
      .add_number("current-jobs-reserved", queue.leased)
      .add_number("current-jobs-delayed", queue.scheduled)
      .add_number("current-jobs-buried", queue.dead)
      .add_number("total-jobs", queue.counters.accepted)
      .add_number("current-using", tube.using_it)
      .add_number("current-watching", tube.watching)
      .add_number("current-waiting", tube.waiting)
      .add_number("cmd-delete", queue.counters.acked + queue.counters.cancelled)
      .add_number("cmd-pause-tube", tube.pauses)
      .add_number("pause", is_paused ? tube.pause_s : 0)
      .add_number("pause-time-left", is_paused ? left / 1000 : 0);
  return std::move(yaml).text();
}

std::string yaml_of(const ServerFigures& figures) {
  const QueueStats& sum = figures.sum;
  const Counts& counts = *figures.counts;
  const auto count = [&](Verb verb) { return counts.commands[static_cast<std::size_t>(verb)]; };
  rusage usage{};
  static_cast<void>(::getrusage(RUSAGE_SELF, &usage));
  utsname host{};
  static_cast<void>(::uname(&host));
  Yaml yaml;
  yaml.add_number("current-jobs-urgent", figures.urgent)
      .add_number("current-jobs-ready", sum.ready)
      .add_number("current-jobs-reserved", sum.leased)
      .add_number("current-jobs-delayed", sum.scheduled)
      .add_number("current-jobs-buried", sum.dead);
  for (const auto& [name, verb] : kCounted) yaml.add_number(name, count(verb));
  yaml.add_number("cmd-list-tube-used", count(Verb::list_tube_used))
      .add_number("cmd-list-tubes-watched", count(Verb::list_tubes_watched))
      .add_number("cmd-pause-tube", count(Verb::pause_tube))
      .add_number("job-timeouts", sum.counters.run_outs)
      .add_number("total-jobs", sum.counters.accepted)
      .add_number("max-job-size", figures.max_job)
      .add_number("current-tubes", figures.tubes)
      .add_number("current-connections", counts.connections)
      .add_number("current-producers", counts.producers)
      .add_number("current-workers", counts.workers)
      .add_number("current-waiting", counts.waiting)
      .add_number("total-connections", counts.all_connections)
      .add_number("pid", ::getpid())
      .add("version", "\"1.12+tarry." TARRY_VERSION "\"")
      .add("rusage-utime", seconds_of(usage.ru_utime))
      .add("rusage-stime", seconds_of(usage.ru_stime))
      .add_number("uptime", figures.uptime_s)
      .add_number("binlog-oldest-index", 0)
      .add_number("binlog-current-index", 0)
      .add_number("binlog-records-migrated", 0)
      .add_number("binlog-records-written", 0)
      .add_number("binlog-max-size", 10'485'760)
      .add("draining", figures.draining ? "true" : "false")
      .add("id", figures.id)
      .add("hostname", std::string_view(host.nodename))
      .add("os", std::string_view(host.version))
      .add("platform", std::string_view(host.machine));
  return std::move(yaml).text();
}

std::string yaml_list(const std::vector<std::string>& names) {
  std::string text = "---\n";
  for (const std::string& name : names) text += "- " + name + "\n";
  return text;
}

}  // namespace tarry::beanstalk
