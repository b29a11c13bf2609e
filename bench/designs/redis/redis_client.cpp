#include "designs/redis/redis_client.h"

namespace tarry::bench {

void RedisClient::send(std::span<const std::string_view> words, Answered answered) {
  words_.clear();
  for (const std::string_view word : words) words_.add(word);
  pipe_.send(words_, std::move(answered));
}

long long RedisClient::number(std::initializer_list<std::string_view> words) {
  long long answer = 0;
  send(words, [&](const redisReply& reply) { answer = reply.integer; });
  run();
  return answer;
}

void RedisClient::fetch(std::initializer_list<std::string_view> words,
                        std::vector<std::string>& texts) {
  send(words, [&](const redisReply& reply) { add_texts(reply, texts); });
  run();
}

void add_texts(const redisReply& reply, std::vector<std::string>& texts) {
  if (reply.type == REDIS_REPLY_ARRAY) {
    for (std::size_t i = 0; i < reply.elements; ++i) add_texts(*reply.element[i], texts);
  } else if (reply.type == REDIS_REPLY_STRING && reply.len > 0) {
    texts.emplace_back(reply.str, reply.len);
  }
}

}  // namespace tarry::bench
