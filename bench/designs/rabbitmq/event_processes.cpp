// S13: event processes. hash(message) picks one of four ZSETs. Each ZSET has an event process (here
// a thread), which passes due messages on to a message queue, RabbitMQ, and only then removes them;
// if nothing is due it sleeps for a second, as in the source. The handlers consume the message
// queue, with acks. In the source, ZooKeeper elects each process, so that after a crash another one
// takes over the key; here each consumer runs all four.
#ifdef TARRY_WITH_RABBITMQ

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "designs/hiredis_pipe.h"
#include "designs/openers.h"
#include "designs/rabbitmq/rabbit_client.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kEventKeys = 4;

std::string event_key(std::size_t number) { return "events:" + std::to_string(number); }
std::string event_key(std::string_view payload) {
  return event_key(std::hash<std::string_view>()(payload) % kEventKeys);
}

// One event process. It uses the producer's half of its base class.
class EventProcess final : public RabbitClient {
 public:
  EventProcess(const Place& place, std::size_t number)
      : RabbitClient(place, Role::producer), key_(event_key(number)), pipe_(place.redis_socket) {}

  void push(std::span<const Message> /*batch*/) override {}
  /// Passes due messages on. Returns whether any was due.
  bool hand_on() {
    std::vector<std::string> due;
    words_.clear();
    for (const std::string_view word : {"ZRANGEBYSCORE", key_.c_str(), "-inf"}) words_.add(word);
    words_.add_number(now_ms());
    for (const std::string_view word : {"LIMIT", "0", "100"}) words_.add(word);
    pipe_.send(words_, [&](const redisReply& reply) {
      for (std::size_t i = 0; i < reply.elements; ++i) due.emplace_back(text_of(*reply.element[i]));
    });
    pipe_.run();
    if (due.empty()) return false;
    for (const std::string& task : due) publish({}, kReady, task);
    wait_for_confirms();
    words_.clear();
    words_.add("ZREM");
    words_.add(key_);
    for (const std::string& task : due) words_.add(task);
    pipe_.send(words_, [](const redisReply& /*reply*/) {});
    pipe_.run();
    return true;
  }

 private:
  const std::string key_;
  HiredisPipe pipe_;
  Words words_;
};

class EventProcesses final : public RabbitClient {
 public:
  EventProcesses(const Place& place, Role role)
      : RabbitClient(place, role), pipe_(place.redis_socket) {
    for (std::size_t i = 0; role == Role::consumer && i < kEventKeys; ++i) {
      processes_.emplace_back([this, place, i] { run(place, i); });
    }
  }
  ~EventProcesses() override {
    stopped_ = true;
    for (std::thread& each : processes_) each.join();
  }
  EventProcesses(const EventProcesses&) = delete;
  EventProcesses& operator=(const EventProcesses&) = delete;

  void clear() override {
    command({"FLUSHALL"});
    make_ready_queue();
  }
  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      words_.clear();
      const std::string key = event_key(message.payload);
      words_.add("ZADD");
      words_.add(key);
      words_.add_number(message.due_ms);
      words_.add(message.payload);
      pipe_.send(words_, [](const redisReply& /*reply*/) {});
    }
    pipe_.run();
  }
  bool cancel(const Message& message) override {
    return command({"ZREM", event_key(message.payload), message.payload}) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    return command({"ZADD", event_key(message.payload), "XX", "CH", std::to_string(due_ms),
                    message.payload}) == 1;
  }

 private:
  void run(const Place& place, std::size_t number) {
    EventProcess process(place, number);
    while (!stopped_) {
      if (process.hand_on()) continue;
      for (int part = 0; part < 20 && !stopped_; ++part) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }
  long long command(std::initializer_list<std::string_view> words) {
    words_.clear();
    for (const std::string_view word : words) words_.add(word);
    long long answer = 0;
    pipe_.send(words_, [&](const redisReply& reply) { answer = reply.integer; });
    pipe_.run();
    return answer;
  }

  HiredisPipe pipe_;
  Words words_;
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> processes_;
};

}  // namespace

Opened open_event_processes(const Place& place, Role role) {
  return std::make_unique<EventProcesses>(place, role);
}

}  // namespace tarry::bench

#endif
