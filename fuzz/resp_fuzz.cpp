// What a Redis server sends: taken out of its bytes, whole and in pieces, the same; then read as
// each kind of answer that the engine waits for.
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/histogram.h"
#include "engines/redis/records/describe.h"
#include "engines/redis/records/place.h"
#include "engines/redis/verbs/claim_reply.h"
#include "fuzz/input.h"
#include "net/redis/protocol/redis_reader.h"
#include "net/redis/redis_redirect.h"

namespace tarry::fuzz {
namespace {

constexpr std::size_t kMostReply = 1 << 16;
constexpr std::uint64_t kSecret = 42;

void tell(net::RedisView view, std::string& into) {
  into += static_cast<char>('a' + static_cast<int>(view.kind()));
  into += std::to_string(view.integer()) + ":" + std::to_string(view.text().size()) + ":";
  into += view.text();
  for (std::size_t i = 0; i < view.size(); ++i) tell(view[i], into);
}

struct Read {
  std::string told;
  net::RedisReader::Fault fault = net::RedisReader::Fault::none;
};

template <typename Look>
Read read(std::string_view bytes, std::size_t piece, Look look) {
  net::RedisReader reader(kMostReply);
  Read read;
  while (!bytes.empty() && reader.fault() == net::RedisReader::Fault::none) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const auto reply = reader.next()) {
      tell(reply->view(), read.told);
      look(reply->view());
    }
  }
  read.fault = reader.fault();
  TARRY_ASSERT((read.fault == net::RedisReader::Fault::none) == reader.fault_text().empty());
  return read;
}

void read_as_answers(net::RedisView view) {
  static const std::vector<redis::Place> shards = redis::make_places("orders", 1, {1, "g", 0}, 16);
  const net::RedisAddress from{"127.0.0.1", 7000};
  if (const auto redirect = net::redis_redirect(view.text(), from)) {
    TARRY_ASSERT(redirect->slot < 16384 && redirect->to.port != 0 && !redirect->to.host.empty());
  }
  if (const auto ranges = net::redis_slot_ranges(view, from)) {
    for (const net::RedisSlotRange& range : *ranges) {
      TARRY_ASSERT(range.first <= range.last && range.last < 16384 && range.master.port != 0);
    }
  }
  core::ClaimReply claimed;
  base::Histogram lateness;
  const auto claim = redis::read_claim(view, shards[0], kSecret, 500, claimed, lateness);
  if (!claim) TARRY_ASSERT(claimed.items.empty() && claimed.bytes.empty());
  if (claim) {
    TARRY_ASSERT(claim->taken == claimed.items.size());
    for (const core::ClaimedItem& item : claimed.items) {
      TARRY_ASSERT(item.payload.offset + item.payload.size <= claimed.bytes.size());
    }
  }
  (void)redis::read_message(view, shards[0], kSecret, 1'767'225'600'000, true);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarry::fuzz;
  Input input(data, size);
  const std::size_t piece = 1 + input.u8();
  const Read whole = read(input.rest(), size, read_as_answers);
  const Read pieces = read(input.rest(), piece, [](tarry::net::RedisView) {});
  TARRY_ASSERT(whole.told == pieces.told && whole.fault == pieces.fault);
  return 0;
}
