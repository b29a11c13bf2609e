// AnswerThread: a thread of an engine that answers requests which the engine's other threads do not
// answer. A request goes to this thread if it was refused before it reached the other threads, if
// it came after they had ended, or if it would keep them busy for too long. (The answer cannot be
// given within `submit`, where a completion must not run.)
//
// Invariants
//  1. Posted tasks run in order, on one thread, which counts as an engine's (`on_engine_thread`).
//  2. The destructor returns when all tasks have run. A task may call the destructor, because a
//     completion may hold the last handle of a store; the remaining tasks then run within the
//     destructor.
//  3. After `retire` the thread exists only while there is a task to run.
//
// Thread safe, except the destructor: no other thread may call a member during or after it.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/threads/thread.h"
#include "base/unique_function.h"

namespace tarry::core {

class AnswerThread {
 public:
  using Task = base::UniqueFunction<void()>;

  explicit AnswerThread(base::ThreadName name = "tarry-answers");
  ~AnswerThread();
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  /// Does not wait for the task. (Exception: after `retire`, if the system gives no thread, `post`
  /// runs the task itself.)
  void post(Task task);
  /// Returns when every task posted before has run. On the answer thread itself it returns at once.
  /// Needs no memory.
  void drain();
  /// Drains, and ends the thread. If the answer thread itself calls it, the thread ends after the
  /// current task. A task posted later gets a new thread, which ends with the task. Idempotent.
  void retire();

 private:
  struct Shared;

  // Shared with the thread, because a task may destroy this object.
  std::shared_ptr<Shared> shared_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace tarry::core
