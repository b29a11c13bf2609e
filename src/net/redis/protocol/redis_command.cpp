#include "net/redis/protocol/redis_command.h"

#include <charconv>
#include <utility>

#include "net/redis/protocol/redis_slot.h"

namespace tarry::net {
namespace {

// The most bytes that the encoding adds to an argument, and to a command.
constexpr std::size_t kRedisFrame = 24;

}  // namespace

// In RESP a command is "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n". The body is kept as
// "\r\n$3\r\nSET\r\n$1\r\nk", with a line's end before each argument instead of after it, so that
// one append writes it together with the length that follows.

RedisCommand::RedisCommand(std::string_view name, std::size_t reserve) : name_(name) {
  body_.reserve(name.size() + reserve + 2 * kRedisFrame);
  add(name);
}

RedisCommand& RedisCommand::add(std::string_view argument) { return add(argument, {}); }

RedisCommand& RedisCommand::add(std::int64_t argument) {
  char digits[kRedisFrame];
  const char* const end = std::to_chars(digits, digits + sizeof digits, argument).ptr;
  return add(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

RedisCommand& RedisCommand::add(std::string_view head, std::string_view tail) {
  char frame[2 * kRedisFrame] = "\r\n$";
  char* end = std::to_chars(frame + 3, frame + kRedisFrame, head.size() + tail.size()).ptr;
  *end++ = '\r';
  *end++ = '\n';
  body_.append(frame, static_cast<std::size_t>(end - frame));
  body_ += head;
  body_ += tail;
  ++count_;
  return *this;
}

RedisCommand& RedisCommand::key(std::string_view name) {
  if (!slot_) slot_ = redis_slot(name);
  return add(name);
}

std::string RedisCommand::take() && {
  char frame[kRedisFrame] = "*";
  const char* const end = std::to_chars(frame + 1, frame + sizeof frame, count_).ptr;
  body_ += "\r\n";
  body_.insert(0, frame, static_cast<std::size_t>(end - frame));
  return std::move(body_);
}

}  // namespace tarry::net
