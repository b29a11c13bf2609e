// RedissonProcess: one client of the real Redisson, in Java: RDelayedQueue, whose client transfers
// due messages to the list from which consumers pop. Pipes drive redisson_client/Client.java, which
// ends with the thread that made this object. TARRY_REDISSON_CLASSPATH names the built client and
// its libraries (bench/java_classpath.py).
//
// Thread safety: none. A failure ends the program.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "designs/design.h"

namespace tarry::bench {

class RedissonProcess {
 public:
  /// Why no client can run here; empty if one can.
  [[nodiscard]] static std::string missing();

  /// A client of the Redis server on that port of 127.0.0.1.
  explicit RedissonProcess(std::uint16_t port);
  ~RedissonProcess();
  RedissonProcess(const RedissonProcess&) = delete;
  RedissonProcess& operator=(const RedissonProcess&) = delete;

  /// Offers all of them without waiting for one another. Payloads are text without line breaks.
  void push(std::span<const Message> batch);
  /// Pops up to `max` values, and waits at most `most_ms` for the first. They are gone then.
  [[nodiscard]] std::vector<std::string> pop(std::size_t max, std::int64_t most_ms);
  /// Removes a message by its value. Returns whether it was there.
  [[nodiscard]] bool remove(std::string_view payload);

 private:
  /// Sends `words`, and returns the first line of the answer.
  std::string ask(const std::string& words);
  std::string line();

  pid_t java_ = -1;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
};

}  // namespace tarry::bench
