#include "designs/hiredis_pipe.h"

#include <charconv>
#include <utility>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr timeval kLongestWait{60, 0};

}  // namespace

void Words::clear() {
  words_.clear();
  lengths_.clear();
  numbers_used_ = 0;
}

void Words::add(std::string_view word) {
  words_.push_back(word.data());
  lengths_.push_back(word.size());
}

void Words::add_number(std::int64_t number) {
  if (numbers_used_ == numbers_.size()) numbers_.emplace_back();
  auto& text = numbers_[numbers_used_++];
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  add({text.data(), static_cast<std::size_t>(end - text.data())});
}

HiredisPipe::HiredisPipe(const std::string& socket_path)
    : context_(redisConnectUnixWithTimeout(socket_path.c_str(), kLongestWait)) {
  must(context_ != nullptr, "hiredis has memory");
  if (context_->err != 0) give_up("connecting to redis-server", context_->errstr);
  must(redisSetTimeout(context_, kLongestWait) == REDIS_OK, "a time-out is set");
}

HiredisPipe::~HiredisPipe() { redisFree(context_); }

std::string HiredisPipe::load(std::string_view script) {
  Words words;
  for (const std::string_view word : {std::string_view("SCRIPT"), std::string_view("LOAD"), script})
    words.add(word);
  std::string sha;
  send(words, [&](const redisReply& reply) { sha = text_of(reply); });
  run();
  return sha;
}

void HiredisPipe::send(const Words& words, Answered answered) {
  must(redisAppendCommandArgv(context_, static_cast<int>(words.words_.size()),
                              const_cast<const char**>(words.words_.data()),
                              words.lengths_.data()) == REDIS_OK,
       "a command is appended");
  under_way_.push_back(std::move(answered));
}

void HiredisPipe::run() {
  while (!under_way_.empty()) {
    void* got = nullptr;
    if (redisGetReply(context_, &got) != REDIS_OK) give_up("redis-server", context_->errstr);
    auto* const reply = static_cast<redisReply*>(got);
    if (reply->type == REDIS_REPLY_ERROR) give_up("redis-server", text_of(*reply));
    const Answered answered = std::move(under_way_.front());
    under_way_.pop_front();
    answered(*reply);
    freeReplyObject(reply);
  }
}

}  // namespace tarry::bench
