#include "relay/sinks/sink_thread.h"

#include <utility>

#include "base/threads/thread.h"

namespace tarry::relay {

void SinkThread::begin() {
  thread_ = base::start_thread("tarry-sink", [this] { run(); });
}

void SinkThread::end() {
  close();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake();
  thread_.join();
}

void SinkThread::send(std::vector<Outgoing> batch) {
  {
    const std::lock_guard lock(mutex_);
    for (Outgoing& outgoing : batch) arrived_.push_back(std::move(outgoing));
  }
  wake();
}

void SinkThread::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  interrupt();
  wake();
}

bool SinkThread::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void SinkThread::run() {
  for (;;) {
    wait();
    std::deque<Outgoing> arrived;
    bool closed = false;
    bool ended = false;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
      closed = closed_;
      ended = ended_;
    }
    if (!closed) {
      work(std::move(arrived));
      continue;
    }
    stop(std::move(arrived));
    if (ended) return;
  }
}

}  // namespace tarry::relay
