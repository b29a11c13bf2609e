// Inbox entries: whatever fields a foreign producer wrote are read the same each time, and what is
// taken of them is within the limits; what is not is told in one line.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "core/limits.h"
#include "engines/redis/inbox/inbox_entry.h"
#include "fuzz/input.h"
#include "net/redis/protocol/redis_reader.h"

namespace tarry::fuzz {
namespace {

constexpr std::int64_t kNowMs = 1'767'225'600'000;
constexpr std::uint64_t kMostPayload = 64;

// The fields as Redis would send them.
net::RedisReply reply_of(Input& input) {
  std::string texts;
  std::size_t count = 0;
  while (!input.empty()) {
    const std::string_view text = input.text();
    texts += "$" + std::to_string(text.size()) + "\r\n";
    texts += text;
    texts += "\r\n";
    ++count;
  }
  net::RedisReader reader(1 << 20);
  reader.feed("*" + std::to_string(count) + "\r\n" + texts);
  auto reply = reader.next();
  TARRY_ASSERT(reply.has_value());
  return *std::move(reply);
}

void check_entry(const redis::InboxEntry& entry) {
  TARRY_ASSERT(!entry.queue.empty() && entry.queue.size() <= 127);
  TARRY_ASSERT(entry.key.size() <= 512 && entry.payload.size() <= kMostPayload);
  TARRY_ASSERT(entry.max_attempts <= 65'535 && entry.due_ms >= 0);
  if (entry.verb != redis::InboxVerb::push) {
    TARRY_ASSERT(!entry.key.empty() && entry.payload.empty() && entry.headers.empty());
  }
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarry;
  fuzz::Input input(data, size);
  if (const auto id = redis::read_stream_id(input.rest())) {
    const auto again = redis::read_stream_id(redis::spell_in_order(*id));
    TARRY_ASSERT(again && again->ms == id->ms && again->number == id->number);
  }
  const redis::StreamId id{input.flag() ? fuzz::kNowMs - input.number() : input.u64(),
                           input.number()};
  const redis::InboxTime time{fuzz::kNowMs, fuzz::kNowMs + 1};
  core::Limits limits;
  limits.max_payload = fuzz::kMostPayload;
  const net::RedisReply reply = fuzz::reply_of(input);
  const auto entry = redis::read_inbox_entry(id, reply.view(), time, limits);
  const std::string name = redis::spell_in_order(id);
  TARRY_ASSERT(redis::mark_of(name, reply.view()).size() == 8);
  TARRY_ASSERT(redis::mark_of(name, reply.view()) == redis::mark_of(name, reply.view()));
  if (entry) {
    fuzz::check_entry(*entry);
  } else {
    const std::string& message = entry.error().message;
    TARRY_ASSERT(entry.error().code == ErrorCode::invalid_argument ||
                 entry.error().code == ErrorCode::too_large);
    TARRY_ASSERT(!message.empty() && message.find('\n') == std::string::npos);
  }
  return 0;
}
