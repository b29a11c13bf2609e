// A reminder service: reads reminders line by line, and prints each one when its time has come.
//
//   add NAME SECONDS TEXT     move NAME SECONDS     drop NAME     show
//
// Reminders live in the store: end the program, start it again, and none is missing.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <iostream>
#include <sstream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

void answer(const tarry::Result<tarry::Answer>& answer) {
  std::cout << (answer ? std::string(to_string(answer->outcome)) : answer.error().message) + "\n"
            << std::flush;
}

void show(const tarry::Queue& reminders) {
  tarry::ListOptions page;
  do {
    const auto found = reminders.list(page);
    if (!found) return;
    for (const tarry::MessageInfo& each : found->messages) {
      std::cout << each.key + " " + std::string(to_string(each.state)) + "\n" << std::flush;
    }
    page.after = found->next;
  } while (!page.after.empty());
}

void obey(const tarry::Queue& reminders, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string name;
  double seconds = 0;
  words >> verb >> name;
  if (verb == "show") return show(reminders);
  if (verb == "drop") return answer(reminders.cancel(name));
  words >> seconds;
  const tarry::Due due = tarry::in(std::chrono::duration<double>(seconds));
  if (verb == "move" && words) return answer(reminders.reschedule(name, due));
  std::string text;
  std::getline(words >> std::ws, text);
  if (verb != "add" || text.empty()) {
    std::cout << "add NAME SECONDS TEXT, move NAME SECONDS, drop NAME or show\n" << std::flush;
    return;
  }
  const auto pushed = reminders.push({.key = name, .payload = text, .due = due});
  std::cout << (pushed ? std::string(to_string(pushed->outcome)) : pushed.error().message) + "\n"
            << std::flush;
}

bool is_empty(const tarry::Queue& reminders) {
  const auto stats = reminders.stats();
  return !stats || stats->scheduled + stats->ready + stats->leased == 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto store = tarry::open(argc > 1 ? argv[1] : "file:reminders-store");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  const tarry::Queue reminders = store->queue("reminders");

  std::stop_source stop;
  tarry::Worker worker(reminders, {}, [](const tarry::Delivery& d, std::stop_token) {
    std::cout << "REMINDER " + std::string(d.key()) + ": " + std::string(d.payload()) + "\n"
              << std::flush;
    return tarry::ack();
  });
  std::thread delivering([&] {
    if (const auto run = worker.run(stop.get_token()); !run) std::cerr << run.error().message;
  });
  for (std::string line; std::getline(std::cin, line);) obey(reminders, line);
  // The input has ended: the remaining reminders are still printed.
  while (!is_empty(reminders)) std::this_thread::sleep_for(20ms);
  stop.request_stop();
  delivering.join();
  return 0;
}
