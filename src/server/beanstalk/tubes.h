// Tubes: what beanstalkd says of tubes and the engine does not keep: how many connections use,
// watch and wait for each, its pauses, and which queues the server has seen. And the other state
// that all connections of a front share.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/beanstalk/command.h"
#include "server/beanstalk/job_ids.h"

namespace tarry::beanstalk {

inline constexpr std::string_view kDefaultTube = "default";

struct Tube {
  std::uint32_t using_it = 0;
  std::uint32_t watching = 0;
  std::uint64_t waiting = 0;
  std::uint64_t pauses = 0;
  std::int64_t pause_s = 0;          // the last one's length
  std::int64_t paused_until_ms = 0;  // by the wall clock
  bool seen = false;                 // there is a queue of that name in the store

  /// Whether beanstalkd has the tube though it may hold no job.
  [[nodiscard]] bool is_open() const noexcept { return using_it > 0 || watching > 0; }
};

class Tubes {
 public:
  using Map = std::map<std::string, Tube, std::less<>>;

  /// References stay valid until `tidy` drops the tube, which must not be open then.
  [[nodiscard]] Tube& at(std::string_view name);
  [[nodiscard]] Tube* find(std::string_view name) noexcept;
  [[nodiscard]] const Map& all() const noexcept { return all_; }
  /// Forgets the tube if nothing is known of it.
  void tidy(std::string_view name);
  /// Whether beanstalkd has the tube though it holds no job.
  [[nodiscard]] bool is_open(std::string_view name) const noexcept;

 private:
  Map all_;
};

/// JobNote: facts about a job that follow neither from its id nor from its message.
struct JobNote {
  std::string tube;
  std::string key;
  std::optional<std::uint32_t> delay_s = {};  // of its last release
  std::uint32_t kicks = 0;                    // while it was delayed
  std::uint32_t closes = 0;                   // reservations that ended with their connection
};

/// The latest of those jobs.
class JobNotes {
 public:
  static constexpr std::size_t kMost = 64 * 1024;
  /// The job's note, made if there is none. Valid until the next call.
  JobNote& at(std::uint64_t job, std::string_view tube, std::string_view key);
  [[nodiscard]] const JobNote* find(std::uint64_t job) const noexcept;

 private:
  std::unordered_map<std::uint64_t, JobNote> notes_;
  std::deque<std::uint64_t> order_;
};

struct Counts {
  std::array<std::uint64_t, kVerbs> commands = {};
  std::uint32_t connections = 0;
  std::uint32_t all_connections = 0;
  std::uint32_t producers = 0;
  std::uint32_t workers = 0;
  std::uint64_t waiting = 0;
};

struct Shared {
  Tubes tubes = {};
  JobIds ids = {};
  JobNotes notes = {};
  Counts counts = {};
  std::uint32_t last_ttr_s = 60;  // of the latest put
  std::int64_t started_ms = 0;    // by the wall clock
  std::string id = {};            // of this run of the server
};

}  // namespace tarry::beanstalk
