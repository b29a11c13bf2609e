#include "engines/redis/layouts/keys/layout_find.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "engines/redis/layouts/keys/layout_seen.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::size_t kLength = 8;  // as Lua's struct packs a size
constexpr std::size_t kId = 8;
constexpr std::int64_t kEntriesALook = 1'000;
// The longest form of a key: each of its bytes takes six in JSON, or it has a codec's frame.
constexpr std::size_t kMostOfAKey = 6 * core::kMaxKey + 16;

bool is_long(std::string_view packed, std::size_t at) noexcept {
  if (packed.size() < at + kLength) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, packed.data() + at, kLength);
  return length == packed.size() - at - kLength;
}

// One walk for all the names. It begins at the head, with the entries that were just listed. Then
// it uses ZSCAN, because ranks shift while other programs work there: ZSCAN misses no member that
// stays throughout.
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
    last_ = packed;
    take(base::hex_digits(entry->id), packed);
    if (entry->value.size() > kMostOfAKey) return;
    take(std::string(entry->value), packed);
    take(std::string(decode_value(entry->value, Decode::automatic, scratch_).payload), packed);
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

  void end() {
    const auto last = unpack_entry(last_);
    if (!last) return done_(std::move(members_));
    const Seen seen{last->is_old ? EntryForm::old : EntryForm::newer, written_as(last->value)};
    remember_seen(context_, keys_, seen, [self = shared_from_this()](const Seen&) {
      self->done_(std::move(self->members_));
    });
  }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  std::unordered_map<std::string, std::vector<std::size_t>> names_;
  Members members_;
  std::size_t left_;
  base::UniqueFunction<void(Result<Members>)> done_;
  std::string scratch_;
  std::string last_;  // the last entry that was looked at
};

}  // namespace

std::optional<Entry> unpack_entry(std::string_view packed) noexcept {
  if (packed.starts_with(static_cast<char>(kId)) && is_long(packed, kId + 1)) {
    return Entry{packed.substr(1, kId), packed.substr(kId + 1 + kLength), false};
  }
  if (is_long(packed, kId)) {
    return Entry{packed.substr(0, kId), packed.substr(kId + kLength), true};
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
  return {
      ErrorCode::unsupported,
      "layout " + std::string(to_string(layout)) + " cannot find " + base::quoted(key) +
          ": it is the checksum of a member that cannot be a key, since it is not 1 to 512 bytes"};
}

}  // namespace tarry::redis
