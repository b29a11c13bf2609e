// AnswerThread: a thread of an engine for answers that its other threads do not give. These are
// requests that are refused before they reach those threads, or come after they have ended (a
// completion must not run within `submit`), and requests for which they have no time.
//
// Invariants
//  1. Posted tasks run in order, on one thread, which counts as an engine's (`on_engine_thread`).
//  2. The destructor returns when all tasks have run. A task may call it, because a completion may
//     hold the last handle of a store: the remaining tasks then run within the destructor.
//  3. After `retire` there is a thread only while there is a task to run.
//
// Thread safe, except the destructor, which must come after every call from other threads.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/thread.h"
#include "base/unique_function.h"

namespace tarry::core {

class AnswerThread {
 public:
  using Task = base::UniqueFunction<void()>;

  explicit AnswerThread(base::ThreadName name = "tarry-answers");
  ~AnswerThread();
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  /// Never blocks on a task. (After `retire`, if the system gives no thread, it runs the task.)
  void post(Task task);
  /// Returns when every task posted before has run; on the answer thread itself, at once. Needs no
  /// memory.
  void drain();
  /// Drains, and ends the thread; called on that thread, it ends after the current task. A task
  /// posted later gets a new thread, which ends with it. Idempotent.
  void retire();

 private:
  struct Shared;

  // Shared with the thread, which may see the end of this object from within a task.
  std::shared_ptr<Shared> shared_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace tarry::core
