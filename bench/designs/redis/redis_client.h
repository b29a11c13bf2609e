// RedisClient: the common part of the designs in Redis: one connection, on which the commands of a
// batch are sent together. Messages are in ZSETs or LISTs of the database 0, which has no other
// data.
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

  void settle(const Claimed& /*claimed*/) override {}  // a claimed message is already gone
  void clear() override { (void)number({"FLUSHALL"}); }

 protected:
  using Answered = HiredisPipe::Answered;

  std::string load(std::string_view script) { return pipe_.load(script); }
  /// Sent with the next `run`.
  void send(std::span<const std::string_view> words, Answered answered = ignore);
  void send(std::initializer_list<std::string_view> words, Answered answered = ignore) {
    send(std::span(words.begin(), words.size()), std::move(answered));
  }
  void run() { pipe_.run(); }
  /// Runs one command at once. Returns the number that it answers, or 0 if it answers something
  /// else.
  long long number(std::initializer_list<std::string_view> words);
  /// Runs one command at once. Adds the texts of its answer, a text or an array, to `texts`.
  void fetch(std::initializer_list<std::string_view> words, std::vector<std::string>& texts);

 private:
  static void ignore(const redisReply& /*reply*/) {}

  HiredisPipe pipe_;
  Words words_;
};

/// Adds the texts of a reply, a text or an array, to `texts`; none if the reply is nil or empty.
void add_texts(const redisReply& reply, std::vector<std::string>& texts);

}  // namespace tarry::bench
