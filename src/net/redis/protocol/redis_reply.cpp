#include "net/redis/protocol/redis_reply.h"

#include <charconv>

namespace tarry::net {

RedisView::Kind RedisView::kind() const noexcept {
  return node_ == nullptr ? Kind::nil : node_->kind;
}

std::int64_t RedisView::integer() const noexcept {
  if (kind() == Kind::integer) return node_->integer;
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
    case Kind::error: return {node_->text, node_->size};
    default: return {};
  }
}

std::size_t RedisView::size() const noexcept { return kind() == Kind::array ? node_->size : 0; }

RedisView RedisView::operator[](std::size_t index) const noexcept {
  return index < size() ? RedisView(node_->elements + index) : RedisView();
}

}  // namespace tarry::net
