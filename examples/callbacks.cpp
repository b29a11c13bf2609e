// Push, claim and ack from an event loop, without a thread that waits.
#include <tarry/store.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

/// Stands for the event loop of your program: Asio, Qt, libuv, ...
class Loop {
 public:
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    wake_.notify_one();
  }
  void stop() {
    post([this] { stopped_ = true; });
  }
  void run() {
    while (!stopped_) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;  // the loop's thread alone
};

/// All members run on the loop's thread: no locks.
class Orders {
 public:
  Orders(Loop& loop, tarry::Queue queue) : loop_(loop), queue_(std::move(queue)) {}

  void place() {
    const tarry::Push push{.key = "order:42", .payload = "a lamp", .due = tarry::in(50ms)};
    queue_.push(push, [this](tarry::Result<tarry::Pushed> pushed) {
      if (!pushed) return fail(pushed.error());
      std::cout << "order:42 " << to_string(pushed->outcome) << "\n";
      claim();
    });
  }

 private:
  void claim() {
    // Costs nothing while it waits; the answer is empty if nothing fell due within the minute.
    queue_.claim({.max = 100, .wait = 1min}, [this](auto deliveries) {
      if (!deliveries) return fail(deliveries.error());
      if (deliveries->empty()) return claim();
      std::vector<tarry::Settle> acks;
      for (const tarry::Delivery& delivery : *deliveries) {
        std::cout << "closing " << delivery.key() << ": " << delivery.payload() << "\n";
        acks.push_back({.receipt = delivery.receipt()});
      }
      settle(acks);
    });
  }

  void settle(std::span<const tarry::Settle> acks) {
    queue_.settle(acks, [this](auto answers) {
      if (!answers) return fail(answers.error());
      for (const auto& answer : *answers) {
        std::cout << (answer ? to_string(answer->outcome) : answer.error().message) << "\n";
      }
      loop_.stop();  // one round is enough for an example; otherwise: claim()
    });
  }

  void fail(const tarry::Error& error) {
    std::cerr << error.message << "\n";
    loop_.stop();
  }

  Loop& loop_;
  tarry::Queue queue_;
};

int main(int argc, char** argv) {
  Loop loop;  // outlives the store, whose callbacks are posted to it
  tarry::OpenOptions options;
  options.executor = [&loop](std::function<void()> task) { loop.post(std::move(task)); };
  const auto store = tarry::open(argc > 1 ? argv[1] : "memory:", options);
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  Orders orders(loop, store->queue("orders"));
  orders.place();
  loop.run();
  return 0;
}
