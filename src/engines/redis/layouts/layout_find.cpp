#include "engines/redis/layouts/layout_find.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "engines/redis/layouts/redisson_value.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::size_t kLength = 8;  // as Lua's struct packs a size
constexpr std::size_t kOldId = 8;
constexpr std::int64_t kEntriesALook = 1'000;

bool is_long(std::string_view packed, std::size_t at) noexcept {
  if (packed.size() < at + kLength) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, packed.data() + at, kLength);
  return length == packed.size() - at - kLength;
}

// One walk for all the names: the head first, where those are that were just listed, and then, as
// ranks shift while others work there, by ZSCAN, which misses nothing that is there throughout.
class Walk : public std::enable_shared_from_this<Walk> {
 public:
  Walk(const LayoutContext& context, LayoutKeysPtr keys, std::vector<std::string> names,
       base::UniqueFunction<void(Result<Members>)> done)
      : context_(context),
        keys_(std::move(keys)),
        members_(names.size()),
        left_(names.size()),
        done_(std::move(done)) {
    for (std::size_t i = 0; i < names.size(); ++i) names_[std::move(names[i])].push_back(i);
  }

  void look_at_head() {
    RedisCommand look("ZRANGE");
    look.key(keys_->zsets[0]).add(std::int64_t{0}).add(kEntriesALook - 1);
    context_.server.command(std::move(look), [self = shared_from_this()](Result<RedisReply> reply) {
      if (!reply) return self->done_(of_a_read(std::move(reply).error()));
      const RedisView entries = reply->view();
      for (std::size_t i = 0; i < entries.size(); ++i) self->meet(entries[i].text());
      if (self->left_ == 0 || entries.size() < kEntriesALook) return self->end();
      self->scan("0");
    });
  }

 private:
  void scan(std::string_view cursor) {
    RedisCommand look("ZSCAN");
    look.key(keys_->zsets[0]).add(cursor).add("COUNT").add(kEntriesALook);
    context_.server.command(std::move(look), [self = shared_from_this()](Result<RedisReply> reply) {
      if (!reply) return self->done_(of_a_read(std::move(reply).error()));
      const RedisView found = reply->view()[1];
      for (std::size_t i = 0; i < found.size(); i += 2) self->meet(found[i].text());
      const std::string next(reply->view()[0].text());
      if (self->left_ == 0 || next == "0" || next.empty()) return self->end();
      self->scan(next);
    });
  }

  void meet(std::string_view packed) {
    const auto entry = unpack_entry(packed);
    if (!entry) return;
    take(base::hex_digits(entry->id), packed);
    if (entry->value.size() > 2 * core::kMaxKey) return;  // nobody's key, framed or quoted
    take(std::string(decode_value(entry->value, context_.spec.decode, scratch_).payload), packed);
  }

  void take(const std::string& name, std::string_view packed) {
    const auto found = names_.find(name);
    if (found == names_.end()) return;
    for (const std::size_t i : found->second) {
      if (members_[i]) continue;
      members_[i] = packed;
      --left_;
    }
  }

  void end() { done_(std::move(members_)); }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  std::unordered_map<std::string, std::vector<std::size_t>> names_;
  Members members_;
  std::size_t left_;
  base::UniqueFunction<void(Result<Members>)> done_;
  std::string scratch_;
};

}  // namespace

std::optional<Entry> unpack_entry(std::string_view packed) noexcept {
  if (packed.empty()) return std::nullopt;
  const std::size_t id = static_cast<std::uint8_t>(packed[0]);
  if (is_long(packed, id + 1)) {
    return Entry{packed.substr(1, id), packed.substr(id + 1 + kLength)};
  }
  if (is_long(packed, kOldId)) {
    return Entry{packed.substr(0, kOldId), packed.substr(kOldId + kLength)};
  }
  return std::nullopt;
}

void find_members(const LayoutContext& context, const LayoutKeysPtr& keys,
                  std::vector<std::string> names,
                  base::UniqueFunction<void(Result<Members>)> done) {
  if (context.spec.layout == Layout::redisson) {
    std::make_shared<Walk>(context, keys, std::move(names), std::move(done))->look_at_head();
    return;
  }
  Members members;
  for (std::string& name : names) members.emplace_back(std::move(name));
  done(std::move(members));
}

bool is_checksum(std::string_view key) noexcept {
  constexpr std::string_view kBegins = "sha1:";
  return key.size() == kBegins.size() + 40 && key.starts_with(kBegins) &&
         key.find_first_not_of("0123456789abcdef", kBegins.size()) == std::string_view::npos;
}

Error found_by_member_only(std::string_view key, Layout layout) {
  return {ErrorCode::unsupported,
          "layout " + std::string(to_string(layout)) + " cannot find " + base::quoted(key) +
              ": that is the checksum of a member that is no key of 1 to 512 bytes"};
}

}  // namespace tarry::redis
