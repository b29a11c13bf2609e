#include "net/redis_reply.h"

#include <charconv>

#include <hiredis/hiredis.h>

namespace tarry::net {

RedisView::Kind RedisView::kind() const noexcept {
  if (reply_ == nullptr) return Kind::nil;
  switch (reply_->type) {
    case REDIS_REPLY_INTEGER: return Kind::integer;
    case REDIS_REPLY_STRING: return Kind::text;
    case REDIS_REPLY_STATUS: return Kind::status;
    case REDIS_REPLY_ERROR: return Kind::error;
    case REDIS_REPLY_ARRAY: return Kind::array;
    default: return Kind::nil;  // RESP3's types, which nobody asked for
  }
}

std::int64_t RedisView::integer() const noexcept {
  if (kind() == Kind::integer) return reply_->integer;
  if (kind() != Kind::text) return 0;
  const std::string_view digits = text();
  const char* const end = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  return error == std::errc() && stop == end ? value : 0;
}

std::string_view RedisView::text() const noexcept {
  switch (kind()) {
    case Kind::text:
    case Kind::status:
    case Kind::error: return {reply_->str, reply_->len};
    default: return {};
  }
}

std::size_t RedisView::size() const noexcept {
  return kind() == Kind::array ? reply_->elements : 0;
}

RedisView RedisView::operator[](std::size_t index) const noexcept {
  return index < size() ? RedisView(reply_->element[index]) : RedisView();
}

void RedisReply::Free::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }

}  // namespace tarry::net
