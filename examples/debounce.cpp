// A product's page is rendered anew when it has not changed for a while: each change pushes the
// same key again, which puts the time off, so that a burst of changes costs one rendering.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <iostream>
#include <string>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  auto store = tarry::open(argc > 1 ? argv[1] : "memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  tarry::Queue pages = store->queue("pages");

  const auto changed = [&](const std::string& product, const std::string& version) {
    return pages.push({.key = product,
                       .payload = version,
                       .due = tarry::in(300ms),
                       .if_exists = tarry::IfExists::replace});  // the newest payload counts
  };
  for (int version = 1; version <= 20; ++version) {
    const auto pushed = changed("product:lamp", "version " + std::to_string(version));
    if (!pushed) return 1;
    // During a delivery the answer is `in_flight`: push again later.
    if (version <= 2)
      std::cout << "change " << version << ": " << to_string(pushed->outcome) << "\n";
  }

  std::stop_source stop;
  tarry::Worker worker(pages, {}, [&](const tarry::Delivery& d, std::stop_token) {
    std::cout << "rendering " << d.key() << ", " << d.payload() << "\n";
    stop.request_stop();  // one is enough for an example
    return tarry::ack();
  });
  if (!worker.run(stop.get_token())) return 1;
  std::cout << worker.stats().delivered << " rendering\n";
  return 0;
}
