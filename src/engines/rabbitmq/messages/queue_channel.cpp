#include "engines/rabbitmq/messages/queue_channel.h"

#include "base/bytes.h"
#include "base/text/base64.h"

namespace tarry::rabbitmq {
namespace {

constexpr std::uint8_t kReceiptVersion = 1;

}  // namespace

std::string text_of(const Receipt& receipt) {
  std::string bytes;
  base::ByteWriter writer(bytes);
  writer.u8(kReceiptVersion);
  writer.u64(receipt.epoch);
  writer.u64(receipt.queue_channel);
  writer.u64(receipt.tag);
  return base::base64url_encode(bytes);
}

std::optional<Receipt> receipt_of(std::string_view text) {
  const auto bytes = base::base64url_decode(text);
  if (!bytes) return std::nullopt;
  base::ByteReader reader(*bytes);
  Receipt receipt;
  std::uint8_t version = 0;
  if (!reader.u8(version) || version != kReceiptVersion || !reader.u64(receipt.epoch) ||
      !reader.u64(receipt.queue_channel) || !reader.u64(receipt.tag) || reader.remaining() > 0) {
    return std::nullopt;
  }
  return receipt;
}

}  // namespace tarry::rabbitmq
