#include "relay/sinks/threaded_sink.h"

#include <utility>

#include "base/thread.h"

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

void ThreadedSink::send(std::vector<Parcel> parcels) {
  std::unique_lock lock(mutex_);
  if (!closed_) {
    for (Parcel& parcel : parcels) waiting_.push_back(std::move(parcel));
    changed_.notify_all();
    return;
  }
  lock.unlock();
  for (Parcel& parcel : parcels) parcel.done(sink_down("the relay has stopped"));
}

void ThreadedSink::close() {
  std::deque<Parcel> unsent;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    unsent.swap(waiting_);
    changed_.notify_all();
  }
  for (Parcel& parcel : unsent) parcel.done(sink_down("the relay has stopped"));
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
    Parcel parcel = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    parcel.done(parcel.is_late() ? too_late() : deliver(parcel));
    lock.lock();
  }
}

}  // namespace tarry::relay
