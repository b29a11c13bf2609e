// The Redis engine's receipts: any text is refused or names a claim; what was spelled is read
// again, the same, and with another secret it is another store's.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engines/redis/records/receipt.h"
#include "fuzz/input.h"

namespace tarry::fuzz {
namespace {

constexpr std::uint64_t kSecret = 42;

std::string spell(const redis::Receipt& receipt) {
  std::string text;
  redis::ReceiptSpeller(receipt, kSecret).append(text, receipt.member, receipt.has_past);
  return text;
}

void check_same(const redis::Receipt& a, const redis::Receipt& b) {
  TARRY_ASSERT(a.queue == b.queue && a.shard == b.shard && a.taken == b.taken);
  TARRY_ASSERT(redis::claim_name(a) == redis::claim_name(b));
  TARRY_ASSERT(a.has_past == b.has_past && a.member == b.member);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarry;
  fuzz::Input input(data, size);
  if (const auto read = redis::parse_receipt(input.rest(), fuzz::kSecret)) {
    const auto again = redis::parse_receipt(fuzz::spell(*read), fuzz::kSecret);
    TARRY_ASSERT(again && again->is_ours);
    fuzz::check_same(*read, *again);
  }
  redis::Receipt receipt;
  receipt.queue = input.u32();
  receipt.shard = input.u32() % 65'536;
  receipt.claimed_ms = input.number();
  receipt.claim = input.number();
  receipt.taken = input.u32() % 65'536;
  receipt.has_past = input.flag();
  receipt.member = input.rest().substr(0, 600);
  if (receipt.member.empty()) return 0;
  std::string text = fuzz::spell(receipt);
  const auto read = redis::parse_receipt(text, fuzz::kSecret);
  TARRY_ASSERT(read && read->is_ours);
  fuzz::check_same(receipt, *read);
  // Cut, it is none.
  text.pop_back();
  TARRY_ASSERT(!redis::parse_receipt(text, fuzz::kSecret));
  return 0;
}
