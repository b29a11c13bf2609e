// RedisClient: what the designs in Redis have in common: one connection, on which the commands of a
// batch go out together. Messages lie in ZSETs or LISTs of the database 0, which is theirs alone.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "designs/compared.h"
#include "designs/hiredis_pipe.h"

namespace tarry::bench {

class RedisClient : public Compared {
 public:
  explicit RedisClient(const Place& place) : pipe_(place.redis_socket) {}

  void settle(const Claimed& /*claimed*/) override {}  // what is taken is gone
  void clear() override { (void)number({"FLUSHALL"}); }

 protected:
  using Answered = HiredisPipe::Answered;

  std::string load(std::string_view script) { return pipe_.load(script); }
  /// Goes out with the next `run`.
  void send(std::span<const std::string_view> words, Answered answered = ignore);
  void send(std::initializer_list<std::string_view> words, Answered answered = ignore) {
    send(std::span(words.begin(), words.size()), std::move(answered));
  }
  void run() { pipe_.run(); }
  /// One command at once, and the number that it answers; 0 where it answers something else.
  long long number(std::initializer_list<std::string_view> words);
  /// One command at once: adds the texts that it answers, one or an array, to `texts`.
  void fetch(std::initializer_list<std::string_view> words, std::vector<std::string>& texts);

 private:
  static void ignore(const redisReply& /*reply*/) {}

  HiredisPipe pipe_;
  Words words_;
};

/// Adds the texts of a reply, one or an array, to `texts`; none where it is nil or empty.
void add_texts(const redisReply& reply, std::vector<std::string>& texts);

}  // namespace tarry::bench
