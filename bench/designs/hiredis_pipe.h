// HiredisPipe: one connection to a redis-server through plain hiredis, with commands of many
// callers under way. What callbacks ask goes out together, when no answer is left to be read.
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

/// The words of one command; those that `add` takes by view live until it is sent.
class Words {
 public:
  void clear();
  void add(std::string_view word);
  void add_number(std::int64_t number);

 private:
  friend class HiredisPipe;
  std::vector<const char*> words_;
  std::vector<std::size_t> lengths_;
  std::deque<std::array<char, 20>> numbers_;  // their addresses stay
  std::size_t numbers_used_ = 0;
};

class HiredisPipe {
 public:
  /// The reply is gone when it returns. An error ends the program.
  using Answered = std::function<void(const redisReply& reply)>;

  explicit HiredisPipe(const std::string& socket_path);
  ~HiredisPipe();
  HiredisPipe(const HiredisPipe&) = delete;
  HiredisPipe& operator=(const HiredisPipe&) = delete;

  /// What EVALSHA calls the script by.
  [[nodiscard]] std::string load(std::string_view script);
  void send(const Words& words, Answered answered);
  /// Until all is answered.
  void run();

 private:
  redisContext* context_;
  std::deque<Answered> under_way_;
};

[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return {reply.str, reply.len};
}

}  // namespace tarry::bench
