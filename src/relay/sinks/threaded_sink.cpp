#include "relay/sinks/threaded_sink.h"

#include <utility>

#include "base/threads/thread.h"

namespace tarry::relay {

void ThreadedSink::begin(std::uint32_t threads) {
  for (std::uint32_t i = 0; i < threads; ++i) {
    threads_.push_back(base::start_jthread({"tarry-sink", i}, [this] { work(); }));
  }
}

void ThreadedSink::end() {
  abandon();
  threads_.clear();
}

void ThreadedSink::send(std::vector<Outgoing> batch) {
  std::unique_lock lock(mutex_);
  if (!closed_) {
    for (Outgoing& outgoing : batch) waiting_.push_back(std::move(outgoing));
    changed_.notify_all();
    return;
  }
  lock.unlock();
  for (Outgoing& outgoing : batch) outgoing.done(sink_down("the relay has stopped"));
}

void ThreadedSink::close() {
  std::deque<Outgoing> unsent;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    unsent.swap(waiting_);
    changed_.notify_all();
  }
  for (Outgoing& outgoing : unsent) outgoing.done(sink_down("the relay has stopped"));
  interrupt();
}

void ThreadedSink::abandon() {
  close();
  kill();
}

void ThreadedSink::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Outgoing outgoing = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    outgoing.done(outgoing.is_late() ? too_late() : deliver(outgoing));
    lock.lock();
  }
}

}  // namespace tarry::relay
