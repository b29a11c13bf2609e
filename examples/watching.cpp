// A log and metrics for the operator of a program that embeds tarry.
#include <tarry/metrics.h>
#include <tarry/store.h>

#include <iostream>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  tarry::OpenOptions options;
  options.log = [](const tarry::LogEntry& entry) {  // on the store's threads: be quick
    std::clog << entry.level << " [" << entry.code << "] " << entry.text << "\n";
  };
  const auto store = tarry::open(argc > 1 ? argv[1] : "memory:", options);
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  const tarry::Metrics metrics(*store);  // counts what is claimed from here on
  const tarry::Queue orders = store->queue("orders");
  const auto pushed = orders.push({.key = "order:42", .payload = "a lamp"});
  const auto claimed = orders.claim();
  if (!pushed || !claimed) return 1;

  const auto lateness = metrics.lateness();
  std::cout << lateness.at("orders").count() << " claimed\n";
  // Your answer to GET /metrics; here only two lines of it are printed.
  const auto text = metrics.text();
  if (!text) return 1;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const bool shown = line.starts_with("tarry_pushes_total{") ||
                       line.starts_with("tarry_lateness_seconds_count{");
    if (shown) std::cout << line << "\n";
  }
  return 0;
}
