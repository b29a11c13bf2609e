// Receipts and generated keys, as clients hand them back; headers and base64, as both sides hold
// them.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/text/base64.h"
#include "core/rules/headers.h"
#include "engines/embedded/records/tokens.h"
#include "fuzz/input.h"

namespace tarry::fuzz {
namespace {

template <std::size_t size>
std::string_view view(const std::array<char, size>& text) {
  return {text.data(), text.size()};
}

// One text a token: what is accepted is what would be written.
void check_tokens(std::string_view text) {
  if (const auto receipt = embedded::parse_receipt(text)) {
    TARRY_ASSERT(view(embedded::spell(*receipt)) == text);
  }
  if (const auto key = embedded::parse_generated_key(text)) {
    TARRY_ASSERT(view(embedded::spell(*key)) == text);
  }
}

void check_spelling(Input input) {
  embedded::Receipt receipt;
  receipt.store_tag = static_cast<std::uint32_t>(input.u64());
  receipt.shard = static_cast<std::uint16_t>(input.u64());
  receipt.handle = static_cast<std::uint32_t>(input.u64());
  receipt.id = input.u64();
  receipt.claims = static_cast<std::uint32_t>(input.u64());
  TARRY_ASSERT(embedded::parse_receipt(view(embedded::spell(receipt))) == receipt);
  const embedded::GeneratedKey key{receipt.store_tag, receipt.shard, receipt.handle, receipt.id};
  TARRY_ASSERT(embedded::parse_generated_key(view(embedded::spell(key))) == key);
}

void check_headers(std::string_view bytes) {
  const std::size_t count = core::count_headers(bytes);
  TARRY_ASSERT(count <= bytes.size() / 4);
  const auto found = core::find_header(bytes, "a");
  TARRY_ASSERT(!found || found->size() <= bytes.size());
  const auto headers = core::decode_headers(bytes);
  if (!headers) {
    TARRY_ASSERT(headers.error().code == ErrorCode::damaged && !headers.error().message.empty());
    return;
  }
  TARRY_ASSERT(headers->size() == count);
  // Bytes that no encoder of ours would write are decoded, but not the other way round.
  if (const auto encoded = core::encode_headers(*headers)) TARRY_ASSERT(*encoded == bytes);
}

void check_base64(std::string_view text) {
  TARRY_ASSERT(base::base64_decode(base::base64_encode(text)).value() == text);
  TARRY_ASSERT(base::base64url_decode(base::base64url_encode(text)).value() == text);
  if (const auto bytes = base::base64_decode(text)) {
    TARRY_ASSERT(base::base64_encode(*bytes) == text);
  }
  if (const auto bytes = base::base64url_decode(text)) {
    TARRY_ASSERT(base::base64url_encode(*bytes) == text);
  }
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tarry::fuzz::Input input(data, size);
  tarry::fuzz::check_tokens(input.rest());
  tarry::fuzz::check_spelling(input);
  tarry::fuzz::check_headers(input.rest());
  tarry::fuzz::check_base64(input.rest());
  return 0;
}
