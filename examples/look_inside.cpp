// A program that can be looked at while it runs: `tarry --store http+unix:///… stats`.
#include <tarry/server.h>
#include <tarry/store.h>

#include <iostream>
#include <limits>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  auto store = tarry::open("memory:");
  if (!store) return 1;
  tarry::Server server(*store, argc > 1 ? argv[1] : "shop.sock");
  if (const auto listening = server.start(); !listening) {
    std::cerr << listening.error().message << "\n";
    return 1;
  }
  std::cout << server.url() << "\n" << std::flush;

  // Your program would work here; this one pushes a message, and waits until its input ends.
  const auto pushed =
      store->queue("orders").push({.key = "order:42", .payload = "a lamp", .due = tarry::in(1h)});
  std::cout << (pushed ? to_string(pushed->outcome) : "not pushed") << "\n" << std::flush;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return pushed ? 0 : 1;
}
