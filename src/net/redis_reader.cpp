#include "net/redis_reader.h"

#include <hiredis/hiredis.h>

#include "base/assert.h"

namespace tarry::net {
namespace {

// Of the reader's buffer, kept from one reply to the next.
constexpr std::size_t kRedisKeptBuffer = 256 * 1024;
constexpr std::size_t kRedisLeastElement = 3;  // "+\r\n"
constexpr int kRedisMaxDepth = 8;              // hiredis 0.14's own; 1.x has none

struct RedisFunctions {
  redisReplyObjectFunctions original;
  redisReplyObjectFunctions bounded;
};
RedisFunctions& redis_functions();

bool too_deep(const redisReadTask* task) {
  int depth = 1;
  while ((task = task->parent) != nullptr) ++depth;
  return depth > kRedisMaxDepth;
}

// hiredis allocates an array's elements when it has read how many there shall be, before any came.
// What is refused here it takes for a lack of memory.
template <typename Count>  // int in hiredis 0.14, std::size_t in 1.x
void* bounded_array(const redisReadTask* task, Count count) {
  const auto max_bytes = *static_cast<const std::size_t*>(task->privdata);
  if (static_cast<std::size_t>(count) > max_bytes / kRedisLeastElement || too_deep(task)) {
    return nullptr;
  }
  return redis_functions().original.createArray(task, count);
}

RedisFunctions& redis_functions() {
  static RedisFunctions functions = [] {
    redisReader* reader = redisReaderCreate();
    TARRY_ASSERT(reader != nullptr);
    RedisFunctions made{*reader->fn, *reader->fn};
    made.bounded.createArray = bounded_array;
    redisReaderFree(reader);
    return made;
  }();
  return functions;
}

}  // namespace

RedisReader::RedisReader(std::size_t max_reply_bytes)
    : max_reply_bytes_(max_reply_bytes),
      reader_(redisReaderCreateWithFunctions(&redis_functions().bounded)) {
  TARRY_ASSERT(reader_ != nullptr);
  reader_->maxbuf = kRedisKeptBuffer;
  reader_->privdata = const_cast<std::size_t*>(&max_reply_bytes_);
}

void RedisReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

void RedisReader::feed(std::string_view bytes) {
  if (fault_ != Fault::none) return;
  fed_ += bytes.size();
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());  // `next` tells of its fault
}

std::optional<RedisReply> RedisReader::next() {
  if (fault_ != Fault::none) return std::nullopt;
  void* made = nullptr;
  if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) {
    const bool refused = reader_->err == REDIS_ERR_OOM;
    fault_ = refused ? Fault::too_large : Fault::protocol;
    fault_text_ = refused ? over_limit() + " or of " + std::to_string(kRedisMaxDepth) + " levels"
                          : std::string(reader_->errstr);
    return std::nullopt;
  }
  if (made == nullptr) {
    check_size(fed_);
    return std::nullopt;
  }
  RedisReply reply(static_cast<redisReply*>(made));
  const std::uint64_t end = fed_ - (reader_->len - reader_->pos);
  check_size(end);
  if (fault_ != Fault::none) return std::nullopt;
  reply_start_ = end;
  return reply;
}

void RedisReader::check_size(std::uint64_t reply_end) {
  if (reply_end - reply_start_ <= max_reply_bytes_) return;
  fault_ = Fault::too_large;
  fault_text_ = over_limit();
}

std::string RedisReader::over_limit() const {
  return "is over the limit of " + std::to_string(max_reply_bytes_) + " bytes";
}

}  // namespace tarry::net
