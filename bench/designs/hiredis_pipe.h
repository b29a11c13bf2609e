// HiredisPipe: one connection to a redis-server through plain hiredis, on which many callers have
// commands under way. Commands from callbacks are sent together, once no answer is left to read.
//
// Thread safety: none.
#pragma once

#include <hiredis/hiredis.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::bench {

/// The words of one command. Words that `add` takes as views must live until it is sent.
class Words {
 public:
  void clear();
  void add(std::string_view word);
  void add_number(std::int64_t number);

 private:
  friend class HiredisPipe;
  std::vector<const char*> words_;
  std::vector<std::size_t> lengths_;
  std::deque<std::array<char, 20>> numbers_;  // a deque, so that their addresses stay the same
  std::size_t numbers_used_ = 0;
};

class HiredisPipe {
 public:
  /// The reply is valid only during the call. An error ends the program.
  using Answered = std::function<void(const redisReply& reply)>;

  explicit HiredisPipe(const std::string& socket_path);
  ~HiredisPipe();
  HiredisPipe(const HiredisPipe&) = delete;
  HiredisPipe& operator=(const HiredisPipe&) = delete;

  /// Loads a script. Returns its name for EVALSHA.
  [[nodiscard]] std::string load(std::string_view script);
  void send(const Words& words, Answered answered);
  /// Returns when all commands are answered.
  void run();

 private:
  redisContext* context_;
  std::deque<Answered> under_way_;
};

[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return {reply.str, reply.len};
}

}  // namespace tarry::bench
