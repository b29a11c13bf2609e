// AnswerThread: a thread of an engine for the answers that its other threads do not give: of a
// request that is refused before it reaches them, or submitted after they have ended (such a
// completion must not run within `submit` either), and of those for which they have no time.
//
// Invariants
//  1. What was posted runs, in order, on one thread that is an engine's (`on_engine_thread`).
//  2. The destructor returns when everything has run. It may be called by a task, because a
//     completion may hold the last handle of a store: what is left then runs within it.
//  3. After `retire` there is a thread only while there is something to run.
//
// Thread safety: all of it but the destructor, which comes after every call of another thread.
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

  /// Never blocks on a task. (After `retire`, where the system gives no thread, it runs the task.)
  void post(Task task);
  /// Returns when all has run that was posted before; on that thread itself at once. Needs no
  /// memory.
  void drain();
  /// Drains, and ends the thread; on that thread itself it ends after the task at hand. What is
  /// posted later gets one that ends with it. Idempotent.
  void retire();

 private:
  struct Shared;

  // Shared with the thread, which may see the end of this object from within a task.
  std::shared_ptr<Shared> shared_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace tarry::core
