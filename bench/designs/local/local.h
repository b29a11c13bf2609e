// Local: the common part of designs that keep a queue in the memory of one process: a lock, a
// thread that waits until the next message is due, and payloads that are lost with the process. A
// claim removes its messages, so there is nothing to settle.
//
// Thread safety: all of it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "designs/compared.h"

namespace tarry::bench {

struct LocalEntry {
  std::int64_t due_ms = 0;
  std::string key;
  std::string payload;
};

class Local : public Compared {
 public:
  void push(std::span<const Message> batch) final;
  std::unique_ptr<Claimed> claim(std::size_t max) final;
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) final;
  void settle(const Claimed& /*claimed*/) final {}
  bool cancel(const Message& message) final;
  bool reschedule(const Message& message, std::int64_t due_ms) final;

 protected:
  void rest(std::int64_t /*most_ms*/) final {}

  // Called under the lock, like the following:
  virtual void add(LocalEntry entry) = 0;
  /// Hands over up to `max` due entries, each by `taken.payloads.push_back`.
  virtual void take(std::int64_t now, std::size_t max, Taken& taken) = 0;
  /// The next time at which `take` may find an entry; far in the future if there is none.
  virtual std::int64_t next_ms() = 0;
  /// Removes an entry and moves it to `entry`. Returns whether it was there.
  virtual bool remove(std::string_view key, LocalEntry& entry) = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace tarry::bench
