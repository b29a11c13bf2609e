#include "core/answer_thread.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "base/thread.h"
#include "core/engine.h"

namespace tarry::core {

struct AnswerThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable progress;  // one more is done
  std::deque<Task> tasks;
  std::uint64_t posted = 0;
  std::uint64_t done = 0;
  bool ended = false;

  // False where nothing is left.
  bool run_one(std::unique_lock<std::mutex>& lock) {
    if (tasks.empty()) return false;
    {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }  // what it owns may be the last handle of the store: destroyed without the lock
    lock.lock();
    ++done;
    progress.notify_all();
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

AnswerThread::AnswerThread(base::ThreadName name)
    : shared_(std::make_shared<Shared>()),
      thread_(base::start_thread(name, [shared = shared_] { shared->run(); })) {}

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
  ++shared_->posted;
  shared_->changed.notify_one();
}

void AnswerThread::drain() {
  if (thread_.get_id() == std::this_thread::get_id()) return;
  std::unique_lock lock(shared_->mutex);
  // Not for what these post: a callback that asks anew at each answer would keep it up for ever.
  shared_->progress.wait(lock,
                         [this, posted = shared_->posted] { return shared_->done >= posted; });
}

}  // namespace tarry::core
