// Compared: a delay queue in the comparison of docs/designs.md. It has the verbs of every design,
// and also waits, cancels, reschedules, and is emptied. One object is one client: the driver opens
// one for each thread that pushes or claims, except where the queue lives in the process that uses
// it.
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
  /// Claims. If nothing is due, waits for it by the design's own means, at most for `most_ms`.
  [[nodiscard]] virtual std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms);
  /// Cancels a message that was pushed and is not due yet. Returns whether that succeeded.
  [[nodiscard]] virtual bool cancel(const Message& /*message*/) { return false; }
  [[nodiscard]] virtual bool reschedule(const Message& /*message*/, std::int64_t /*due_ms*/) {
    return false;
  }
  /// Makes the queue if the design needs that, and empties it. Called once, before any other client
  /// opens the queue.
  virtual void clear() {}
  /// Statements, methods or commands that this client has sent to its server. Redis counts its own.
  [[nodiscard]] virtual std::uint64_t requests() const { return 0; }

 protected:
  /// Waits until asking again makes sense, at most for `most_ms`.
  virtual void rest(std::int64_t most_ms) = 0;
  /// Sleeps for `period_ms`, at most for `most_ms`, as designs do that poll.
  static void sleep(std::int64_t period_ms, std::int64_t most_ms);
};

/// The claim of most designs: the payloads, and a token to settle each.
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
  std::vector<std::string> tokens;  // one for each payload; none if there is nothing to settle
};

enum class Role : std::uint8_t { producer, consumer };

/// The servers and files that a design needs, one bit each.
enum Need : unsigned {
  kNothing = 0,
  kRedis = 1,
  kRabbit = 2,
  kPostgres = 4,
  kBeanstalk = 8,
  kJava = 16,
};

/// The places of the run's servers, and the length of leases.
struct Place {
  std::string directory;  // for the design's own files
  std::string redis_socket;
  std::uint16_t redis_port = 0;
  std::uint16_t rabbit_port = 0;
  std::string postgres_directory;  // the server's socket is in it
  std::uint16_t beanstalk_port = 0;
  std::int64_t lease_ms = 30'000;
};

struct Entry {
  std::string_view id;  // the design's id on the page
  unsigned needs = kNothing;
  bool in_process = false;  // producer and consumer share one object, and end together
  // Null if its library was missing when this was built.
  std::unique_ptr<Compared> (*open)(const Place& place, Role role) = nullptr;
};

/// The designs in the order of the page.
[[nodiscard]] std::span<const Entry> compared_designs();

}  // namespace tarry::bench
