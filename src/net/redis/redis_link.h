// One connection to a Redis server: finds it (if sentinels know its place), connects, does the
// handshake, and then carries commands one way and replies the other. Only its owner knows the
// commands and their callers.
//
// Thread safety: none; on the io_context's thread.
//
// Invariants
//  1. Callbacks never run within a method. `on_end` is the last, and runs exactly once after
//     `start`, whatever happens, as long as the io_context runs.
//  2. Commands sent during a write, or within one turn of the io_context, go out together in the
//     next write.
//  3. While replies are outstanding a timer runs: `command_timeout_ms` without a byte ends
//     the connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/protocol/redis_reader.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_handshake.h"
#include "net/redis/redis_stream.h"

namespace tarry::net {

class RedisSentinels;
class RedisSentinelSearch;

class RedisLink : public std::enable_shared_from_this<RedisLink> {
 public:
  struct End {
    Error error;
    bool was_ready = false;   // it had been ready before
    std::uint64_t taken = 0;  // the kernel had no sent byte from this one on
  };
  struct Events {
    base::UniqueFunction<void()> on_ready;
    base::UniqueFunction<void(RedisReply)> on_reply;
    base::UniqueFunction<void(End)> on_end;
  };

  /// `sentinels`: not null if `options` has them.
  RedisLink(boost::asio::io_context& io, RedisOptions options, Events events,
            std::shared_ptr<RedisSentinels> sentinels = nullptr);

  void start();
  /// Only once it is ready. `replies`: the number of replies to expect.
  void send(std::string_view bytes, std::size_t replies);
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  /// `on_end` follows. No effect once it has ended.
  void end(Error error);

  /// The server's; if sentinels must find it, only once it is ready.
  [[nodiscard]] RedisAddress address() const { return {options_.host, options_.port}; }
  /// How many bytes were sent so far: the offset of the next ones.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  RedisStream::Executor>;
  using SystemError = RedisStream::SystemError;
  enum class State : std::uint8_t { fresh, finding, connecting, greeting, ready, ended };

  void find();
  void connect();
  void on_connected(Result<void> result);
  void enqueue(std::string_view bytes);
  void write();
  void on_written(const SystemError& error, std::size_t size);
  void read();
  void on_read(const SystemError& error, std::size_t size);
  void take_replies();
  void take_reply(RedisReply reply);
  void take_fault();
  void finish();
  void fail(ErrorCode code, std::string message);
  void arm(Clock::time_point when);
  void on_timer();
  void check_progress();
  [[nodiscard]] std::string title() const { return redis_title(options_); }

  RedisOptions options_;  // host and port as they are found
  Events events_;
  const std::shared_ptr<RedisSentinels> sentinels_;
  std::shared_ptr<RedisSentinelSearch> search_;  // while it runs
  std::optional<std::size_t> found_by_;          // which sentinel named the server
  const std::unique_ptr<RedisStream> stream_;
  Timer timer_;
  RedisHandshake handshake_;
  RedisReader reader_;

  State state_ = State::fresh;
  bool writing_ = false;
  bool write_posted_ = false;
  bool write_failed_ = false;
  bool timer_runs_ = false;
  End end_;
  std::string going_out_;  // the bytes of the write in progress
  std::string waiting_;    // the bytes after it
  std::uint64_t sent_ = 0;
  std::size_t awaited_ = 0;
  Clock::time_point progress_;  // when the last byte came, or the first reply was expected
  std::vector<char> chunk_;
};

}  // namespace tarry::net
