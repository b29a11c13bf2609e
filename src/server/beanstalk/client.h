// Client: what the protocol keeps for a connection: its tubes, and the jobs that it has reserved.
//
// Thread safety: none; the server's thread owns it.
//
// Invariants
//  1. `using_it` and `watching` of the tubes count this client until `leave`.
//  2. A reserved job is in `reserved` until its claim is settled, or has run out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/request.h"
#include "server/beanstalk/tubes.h"

namespace tarry::beanstalk {

struct Reservation {
  std::string tube;
  std::string key;
  std::string receipt;
  std::uint32_t ttr_s = 0;
  std::uint32_t delay_s = 0;  // of its put
  std::int64_t ends_ms = 0;   // by the front's clock
  bool was_delayed = false;   // reserved before its time, by reserve-job
};

/// Ends the claim so that the job is ready: a release alone leaves a job that was reserved before
/// its time delayed.
void add_release(core::SettleRequest& request, const Reservation& reservation);

class Client {
 public:
  explicit Client(Shared& shared);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const std::string& used() const noexcept { return used_; }
  [[nodiscard]] const std::vector<std::string>& watched() const noexcept { return watched_; }
  void use(std::string_view tube);
  void watch(std::string_view tube);
  /// False: it is the only tube that the client watches.
  [[nodiscard]] bool ignore(std::string_view tube);

  void count_producer();
  void count_worker();
  void begin_waiting();
  void end_waiting() noexcept;

  /// Also ends the reservations whose time is up.
  [[nodiscard]] std::optional<std::int64_t> soonest_end(std::int64_t now_ms);
  [[nodiscard]] bool has_reservations() const noexcept { return !reserved_.empty(); }
  [[nodiscard]] Reservation* find(std::uint64_t job) noexcept;
  void keep(std::uint64_t job, Reservation reservation);
  /// Takes the job out; nothing if the client has not reserved it.
  [[nodiscard]] std::optional<Reservation> take(std::uint64_t job);

  /// The connection is closed: the requests that release what is still reserved.
  [[nodiscard]] std::vector<core::SettleRequest> leave();

 private:
  Shared& shared_;
  std::string used_{kDefaultTube};
  std::vector<std::string> watched_{std::string(kDefaultTube)};
  std::unordered_map<std::uint64_t, Reservation> reserved_;
  bool producer_ = false;
  bool worker_ = false;
  bool waiting_ = false;
};

}  // namespace tarry::beanstalk
