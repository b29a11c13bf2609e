#include "core/answer_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "core/engine.h"

namespace tarry::core {

struct AnswerThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable idle;  // nothing is left, and nothing runs
  std::deque<Task> tasks;
  bool running = false;
  bool ended = false;

  // False where nothing is left.
  bool run_one(std::unique_lock<std::mutex>& lock) {
    if (tasks.empty()) return false;
    {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      running = true;
      lock.unlock();
      task();
    }  // what it owns may be the last handle of the store: destroyed without the lock
    lock.lock();
    running = false;
    if (tasks.empty()) idle.notify_all();
    return true;
  }

  void run() {
    const EngineThreadScope scope;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ended || !tasks.empty(); });
      if (!run_one(lock)) return;
    }
  }
};

AnswerThread::AnswerThread()
    : shared_(std::make_shared<Shared>()), thread_([shared = shared_] { shared->run(); }) {}

AnswerThread::~AnswerThread() {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->ended = true;
    if (thread_.get_id() == std::this_thread::get_id()) {
      while (shared_->run_one(lock)) {
      }
    }
  }
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
    return;
  }
  shared_->changed.notify_one();
  thread_.join();
}

void AnswerThread::post(Task task) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->tasks.push_back(std::move(task));
  shared_->changed.notify_one();
}

void AnswerThread::drain() {
  if (thread_.get_id() == std::this_thread::get_id()) return;
  std::unique_lock lock(shared_->mutex);
  shared_->idle.wait(lock, [this] { return shared_->tasks.empty() && !shared_->running; });
}

}  // namespace tarry::core
