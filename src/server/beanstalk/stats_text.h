// The YAML of beanstalkd's statistics.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/settings.h>

#include "server/beanstalk/tubes.h"

namespace tarry::beanstalk {

struct JobFigures {
  std::uint64_t job;
  const std::string& tube;
  const MessageInfo& info;
  std::int64_t now_ms;  // by the wall clock
  JobNote note = {};
};
[[nodiscard]] std::string yaml_of(const JobFigures& figures);

struct TubeFigures {
  std::string_view name;
  const QueueStats& queue;
  const Tube& tube;
  std::uint64_t urgent;
  std::int64_t now_ms;
};
[[nodiscard]] std::string yaml_of(const TubeFigures& figures);

struct ServerFigures {
  QueueStats sum = {};  // of all tubes
  std::uint64_t urgent = 0;
  std::size_t tubes = 0;
  std::uint64_t max_job = 0;
  std::int64_t uptime_s = 0;
  bool draining = false;
  std::string_view id = {};
  const Counts* counts = nullptr;
};
[[nodiscard]] std::string yaml_of(const ServerFigures& figures);

[[nodiscard]] std::string yaml_list(const std::vector<std::string>& names);

}  // namespace tarry::beanstalk
