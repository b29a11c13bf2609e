#include "open/redis/redis_acl.h"

#include <variant>

#include "base/text/text.h"
#include "engines/redis/node/acl.h"
#include "open/urls/store_url.h"

namespace tarry::tools {

Result<std::vector<std::string>> redis_acl(std::string_view url, bool old_redis) {
  redis::AclWish wish;
  wish.sharded = !old_redis;
  if (!url.empty()) {
    const auto parsed = detail::parse_store_url(url);
    if (!parsed) return parsed.error();
    const auto* named = std::get_if<detail::RedisUrl>(&*parsed);
    if (named == nullptr) {
      return Unexpected(ErrorCode::invalid_argument,
                        "store " + base::quoted(detail::masked_url(url)) + " is not in Redis");
    }
    if (!named->native) {
      return Unexpected(
          ErrorCode::unsupported,
          "the rules of layout=" + std::string(redis::to_string(named->layout.layout)) +
              " depend on its keys; docs/formats/redis-layouts.md has them");
    }
    wish.cluster = named->topology == detail::RedisUrl::Topology::cluster;
    wish.sentinel = named->topology == detail::RedisUrl::Topology::sentinel;
    wish.select = named->database != 0;
    wish.wait = named->wait_replicas > 0;
  }
  return redis::acl_rules(wish);
}

}  // namespace tarry::tools
