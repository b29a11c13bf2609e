// F26: what TLS costs. One process has a server that speaks TLS, one that does not, and the clients
// of both, so that the rates differ by nothing else. The store keeps nothing on disk: its own work
// would hide the cost.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tarry/store.h>

#include "designs/tarry_queue.h"
#include "figures/figures.h"
#include "figures/lifecycle.h"
#include "harness/certificate.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"
#include "server/http/server.h"

namespace tarry::bench {
namespace {

constexpr Figure kF26{"F26",   "time of a life over TLS against plain HTTP, batches of 100",
                      "ratio", Better::lower,
                      1.3,     1.1};
constexpr Figure kF26s{"F26s", "the same, one message at a time", "ratio", Better::lower, 1.3, 1.1};

/// A store, its server, and a queue of it that is reached over HTTP.
class Served {
 public:
  /// `own`: null for plain HTTP.
  explicit Served(const OwnCertificate* own)
      : store_(must(open("memory:"), "the store opens")),
        server_(store_.engine(), options_of(own)) {
    const auto port = must(server_.start(), "the server listens");
    const std::string at = "127.0.0.1:" + std::to_string(port);
    const std::string url =
        own == nullptr ? "http://" + at : "https://" + at + "?ca=" + own->certificate();
    queue_ = make_tarry_queue(must(open(url), "its client opens"));
  }

  struct Cost {
    double seconds = 0;
    double cpu_seconds = 0;  // of client and server
  };
  /// Adds what so many lives take.
  void live(const Lifecycle& shape, Cost& cost) {
    const double before = own_cpu_seconds();
    cost.seconds += static_cast<double>(shape.messages) / lifecycles_per_second(*queue_, shape);
    cost.cpu_seconds += own_cpu_seconds() - before;
  }

 private:
  static http::ServerOptions options_of(const OwnCertificate* own) {
    http::ServerOptions options;
    options.port = 0;
    if (own == nullptr) return options;
    options.tls =
        must(listening::load_tls({own->certificate(), own->key()}), "the certificate is good")
            .context;
    return options;
  }

  Store store_;
  http::Server server_;
  std::unique_ptr<Design> queue_;
};

void measure(Run& run, const Figure& figure, const Lifecycle& shape, Served& plain, Served& tls) {
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    // In this order what changes slowly on the machine hurts both alike.
    Served::Cost with;
    Served::Cost without;
    plain.live(shape, without);
    tls.live(shape, with);
    tls.live(shape, with);
    plain.live(shape, without);
    const double thousands = 2e-3 * static_cast<double>(shape.messages);
    run.note(fmt::format(
        "over TLS {}k/s, plain {}k/s; processor time {} and {} us a life, {} times",
        short_number(thousands / with.seconds), short_number(thousands / without.seconds),
        short_number(1e3 * with.cpu_seconds / thousands),
        short_number(1e3 * without.cpu_seconds / thousands),
        short_number(with.cpu_seconds / without.cpu_seconds)));
    ratios.push_back(with.seconds / without.seconds);
  }
  run.add(figure, median_of(ratios));
}

}  // namespace

void measure_tls(Run& run) {
  const Scratch scratch(run.directory());
  const OwnCertificate own(scratch.path());
  Served plain(nullptr);
  Served tls(&own);
  const Lifecycle batches{.messages = run.scaled(50'000), .batch = 100, .delay_ms = 0};
  const Lifecycle singles{.messages = run.scaled(5'000), .batch = 1, .delay_ms = 0};
  Served::Cost warm_up;
  plain.live(batches, warm_up);
  tls.live(batches, warm_up);
  measure(run, kF26, batches, plain, tls);
  measure(run, kF26s, singles, plain, tls);
}

}  // namespace tarry::bench
