// One connection to a Redis server: asks sentinels where the server is (if there are any),
// connects, does the handshake, and then carries commands in one direction and replies in the
// other. Only its owner knows the commands and their callers.
//
// Thread safety: none; on the io_context's thread.
//
// Invariants
//  1. Callbacks never run within a method. After `start`, `on_end` runs exactly once, as the last
//     callback, whatever happens, as long as the io_context runs.
//  2. Commands sent during a write, or within one turn of the io_context, go out together in the
//     next write.
//  3. While replies are outstanding, the connection ends if no byte comes for `command_timeout_ms`.
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
    bool was_ready = false;   // whether the link had been ready
    std::uint64_t taken = 0;  // the kernel took exactly the bytes before this offset
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
  /// May be called only once the link is ready. `replies`: the number of replies to expect.
  void send(std::string_view bytes, std::size_t replies);
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  /// Ends the link; `on_end` follows. It has no effect if the link has ended.
  void end(Error error);

  /// The server's address. If sentinels must find the server, it is known only once the link is
  /// ready.
  [[nodiscard]] RedisAddress address() const { return {options_.host, options_.port}; }
  /// How many bytes were sent so far, which is the offset of the next byte.
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

  RedisOptions options_;  // host and port replaced by those that sentinels found
  Events events_;
  const std::shared_ptr<RedisSentinels> sentinels_;
  std::shared_ptr<RedisSentinelSearch> search_;  // null if no search is running
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
  Clock::time_point progress_;  // when the last byte came, or since when a reply is expected
  std::vector<char> chunk_;
};

}  // namespace tarry::net
