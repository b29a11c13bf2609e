#include "core/engine_parts/answer_thread.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "base/threads/thread.h"
#include "core/engine.h"

namespace tarry::core {

struct AnswerThread::Shared : std::enable_shared_from_this<Shared> {
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable progress;  // a task has ended, or no thread runs tasks any more
  std::deque<Task> tasks;
  std::uint64_t posted = 0;
  std::uint64_t done = 0;
  bool retired = false;
  bool ended = false;
  bool served = true;      // a thread that runs tasks exists or is starting
  std::thread::id server;  // that thread

  // Runs the first task. Returns false if there is no task.
  bool run_one(std::unique_lock<std::mutex>& lock) {
    if (tasks.empty()) return false;
    {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }  // the task may own the last handle of the store, so it is destroyed without the lock
    lock.lock();
    ++done;
    progress.notify_all();
    return true;
  }

  void run() {
    const EngineThreadScope scope;
    std::unique_lock lock(mutex);
    server = std::this_thread::get_id();
    while (true) {
      changed.wait(lock, [this] { return ended || retired || !tasks.empty(); });
      if (retired && !ended) break;
      if (!run_one(lock)) break;
    }
    leave(lock);
    if (!tasks.empty()) serve_shortly(lock);
  }

  // Starts a thread that runs the tasks and ends once none is left.
  void serve_shortly(std::unique_lock<std::mutex>& lock) {
    served = true;
    try {
      base::start_thread("tarry-answers", [self = shared_from_this()] {
        const EngineThreadScope scope;
        std::unique_lock own(self->mutex);
        self->server = std::this_thread::get_id();
        while (self->run_one(own)) {
        }
        self->leave(own);
      }).detach();
    } catch (...) {  // no thread, or no memory for one
      const EngineThreadScope scope;
      server = std::this_thread::get_id();
      while (run_one(lock)) {
      }
      leave(lock);
    }
  }

  void leave(const std::unique_lock<std::mutex>&) {
    served = false;
    server = {};
    progress.notify_all();
  }
};

AnswerThread::AnswerThread(base::ThreadName name)
    : shared_(std::make_shared<Shared>()),
      thread_(base::start_thread(name, [shared = shared_] { shared->run(); })) {}

AnswerThread::~AnswerThread() {
  const auto self = std::this_thread::get_id();
  std::unique_lock lock(shared_->mutex);
  shared_->ended = true;
  if (shared_->server == self) {
    while (shared_->run_one(lock)) {
    }
  } else {
    shared_->changed.notify_one();
    shared_->progress.wait(lock, [this] { return !shared_->served; });
  }
  lock.unlock();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == self) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void AnswerThread::post(Task task) {
  std::unique_lock lock(shared_->mutex);
  shared_->tasks.push_back(std::move(task));
  ++shared_->posted;
  if (shared_->served) {
    shared_->changed.notify_one();
  } else {
    shared_->serve_shortly(lock);
  }
}

void AnswerThread::drain() {
  std::unique_lock lock(shared_->mutex);
  if (shared_->server == std::this_thread::get_id()) return;
  // Waits only for tasks posted so far: a callback that sends a new request at each answer would
  // keep it waiting for ever.
  shared_->progress.wait(lock,
                         [this, posted = shared_->posted] { return shared_->done >= posted; });
}

void AnswerThread::retire() {
  drain();
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->retired = true;
    shared_->changed.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id()) return;
  const std::scoped_lock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace tarry::core
