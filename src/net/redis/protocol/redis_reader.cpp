#include "net/redis/protocol/redis_reader.h"

#include <cstring>
#include <utility>

#include <hiredis/hiredis.h>

#include "base/assert.h"

namespace tarry::net {
namespace {

// Limits the memory that the reader's buffer keeps from one reply to the next.
constexpr std::size_t kRedisKeptBuffer = 256 * 1024;
constexpr std::size_t kRedisLeastElement = 3;  // "+\r\n"
constexpr int kRedisMaxDepth = 8;              // hiredis 0.14 has a limit of its own; 1.x has none

bool too_deep(const redisReadTask* task) {
  int depth = 1;
  while ((task = task->parent) != nullptr) ++depth;
  return depth > kRedisMaxDepth;
}

}  // namespace

struct RedisReader::Making {
  explicit Making(std::size_t max_bytes) : max_reply_bytes(max_bytes), functions(all()) {}

  std::size_t max_reply_bytes;
  redisReplyObjectFunctions functions;
  RedisArena arena;           // memory of the reply that is being read
  std::size_t announced = 0;  // elements of its arrays, both read and still expected

  // Where the piece is stored: in its array, or, if it is a whole reply, in a new arena. If the
  // result is null, hiredis assumes that memory has run out.
  static RedisNode* node_of(const redisReadTask* task) {
    if (task->parent != nullptr) {
      return static_cast<RedisNode*>(task->parent->obj)->elements + task->idx;
    }
    Making& making = of(task);
    making.arena = RedisArena();
    making.announced = 0;
    return static_cast<RedisNode*>(making.arena.take_zeroed(sizeof(RedisNode)));
  }

  static void* make_string(const redisReadTask* task, char* text, std::size_t size) {
    RedisNode* const node = node_of(task);
    char* const copy = static_cast<char*>(of(task).arena.take(size));
    if (node == nullptr || copy == nullptr) return nullptr;
    if (size > 0) std::memcpy(copy, text, size);
    switch (task->type) {
      case REDIS_REPLY_STRING: node->kind = RedisView::Kind::text; break;
      case REDIS_REPLY_STATUS: node->kind = RedisView::Kind::status; break;
      case REDIS_REPLY_ERROR: node->kind = RedisView::Kind::error; break;
      default: break;  // RESP3's types, which this client does not request
    }
    node->text = copy;
    node->size = size;
    return node;
  }

  // hiredis calls this as soon as it has read the number of elements, before any element has
  // arrived.
  template <typename Count>  // int in hiredis 0.14, std::size_t in 1.x
  static void* make_array(const redisReadTask* task, Count count) {
    Making& making = of(task);
    const auto elements = static_cast<std::size_t>(count);
    RedisNode* const node = node_of(task);
    const std::size_t most = making.max_reply_bytes / kRedisLeastElement;
    if (node == nullptr || elements > most - making.announced || too_deep(task)) return nullptr;
    making.announced += elements;
    void* const space = making.arena.take_zeroed(elements * sizeof(RedisNode));
    if (space == nullptr) return nullptr;
    if (task->type == REDIS_REPLY_ARRAY) node->kind = RedisView::Kind::array;
    node->elements = static_cast<RedisNode*>(space);
    node->size = elements;
    return node;
  }

  static void* make_integer(const redisReadTask* task, long long value) {
    RedisNode* const node = node_of(task);
    if (node == nullptr) return nullptr;
    node->kind = RedisView::Kind::integer;
    node->integer = value;
    return node;
  }

  static void* make_nil(const redisReadTask* task) { return node_of(task); }

  // Does nothing: the arena is freed with the next reply, or with the reader.
  static void free_reply(void* /*root*/) {}

  // hiredis 1.x knows more types than 0.14. Replies of these types are read as nil.
  template <typename Functions>
  static void add_new_types(Functions& functions) {
    if constexpr (requires { functions.createDouble; }) {
      functions.createDouble = [](const redisReadTask* task, double, char*, std::size_t) -> void* {
        return node_of(task);
      };
      functions.createBool = [](const redisReadTask* task, int) -> void* { return node_of(task); };
    }
  }

  static redisReplyObjectFunctions all() {
    redisReplyObjectFunctions made{};
    made.createString = make_string;
    made.createArray = make_array;
    made.createInteger = make_integer;
    made.createNil = make_nil;
    made.freeObject = free_reply;
    add_new_types(made);
    return made;
  }

 private:
  static Making& of(const redisReadTask* task) { return *static_cast<Making*>(task->privdata); }
};

RedisReader::RedisReader(std::size_t max_reply_bytes)
    : max_reply_bytes_(max_reply_bytes),
      making_(std::make_unique<Making>(max_reply_bytes)),
      reader_(redisReaderCreateWithFunctions(&making_->functions)) {
  TARRY_ASSERT(reader_ != nullptr);
  reader_->maxbuf = kRedisKeptBuffer;
  reader_->privdata = making_.get();
}

RedisReader::~RedisReader() = default;

void RedisReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

void RedisReader::feed(std::string_view bytes) {
  if (fault_ != Fault::none) return;
  fed_ += bytes.size();
  // `next` reports a fault in these bytes
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
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
  RedisReply reply(std::move(making_->arena), static_cast<const RedisNode*>(made));
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
