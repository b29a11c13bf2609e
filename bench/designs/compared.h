// Compared: a delay queue as docs/designs.md sets it beside others: the verbs of every design, and
// how it waits, cancels, moves and is emptied. One object is one client: the driver opens one for
// each thread that pushes or claims, except where the queue lives in the process that uses it.
//
// Thread safety: none, except of designs in the process (Entry::in_process), which have all of it.
// A failure ends the program, as design.h says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "designs/design.h"

namespace tarry::bench {

class Compared : public Design {
 public:
  /// What `claim` gives; where that is nothing, waits by the design's own means, `most_ms` at most.
  [[nodiscard]] virtual std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms);
  /// Whether it is cancelled: `message` is one that was pushed and is not yet due.
  [[nodiscard]] virtual bool cancel(const Message& /*message*/) { return false; }
  [[nodiscard]] virtual bool reschedule(const Message& /*message*/, std::int64_t /*due_ms*/) {
    return false;
  }
  /// Makes the queue where it has to be made, and empties it. Once, before anybody else opens it.
  virtual void clear() {}
  /// Statements, methods or commands that this client has sent to its server. Redis counts its own.
  [[nodiscard]] virtual std::uint64_t requests() const { return 0; }

 protected:
  /// Until it is worth asking again, `most_ms` at most.
  virtual void rest(std::int64_t most_ms) = 0;
  /// Sleeps for `period_ms`, `most_ms` at most: what designs do that poll.
  static void sleep(std::int64_t period_ms, std::int64_t most_ms);
};

/// What most designs' claims have: the payloads, and what to settle each by.
class Taken final : public Claimed {
 public:
  [[nodiscard]] std::size_t size() const override { return payloads.size(); }
  [[nodiscard]] std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    for (const std::string& payload : payloads) sum += proof_of(payload);
    return sum;
  }
  [[nodiscard]] std::string_view payload(std::size_t index) const override {
    return payloads[index];
  }
  std::vector<std::string> payloads;
  std::vector<std::string> tokens;  // one each, or none where there is nothing to settle
};

enum class Role : std::uint8_t { producer, consumer };

/// What a design needs to be there, one bit each.
enum Need : unsigned {
  kNothing = 0,
  kRedis = 1,
  kRabbit = 2,
  kPostgres = 4,
  kBeanstalk = 8,
  kJava = 16,
};

/// Where the servers of the run are, and how long leases last.
struct Place {
  std::string directory;  // of the design's own, for its files
  std::string redis_socket;
  std::uint16_t redis_port = 0;
  std::uint16_t rabbit_port = 0;
  std::string postgres_directory;  // its socket is there
  std::uint16_t beanstalk_port = 0;
  std::int64_t lease_ms = 30'000;
};

struct Entry {
  std::string_view id;  // of the design, as the page has it
  unsigned needs = kNothing;
  bool in_process = false;  // producer and consumer share one object, and end together
  // Null where its library was missing when this was built.
  std::unique_ptr<Compared> (*open)(const Place& place, Role role) = nullptr;
};

/// In the order of the page.
[[nodiscard]] std::span<const Entry> compared_designs();

}  // namespace tarry::bench
