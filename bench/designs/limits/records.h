// Records: what one verb writes into the log of a limit. They are as long as tarry's own, and
// checked by CRC32C as those are. Only the checksums, due times and payloads have a meaning; the
// rest is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "designs/design.h"

namespace tarry::bench {

class Records {
 public:
  Records() : bytes_(kBatchHead, '\0') {}

  void put(const Message& message) {
    std::array<char, kPutHead> head{};
    const std::uint32_t crc = base::crc32c(message.payload);
    std::memcpy(head.data(), &crc, sizeof crc);
    std::memcpy(head.data() + 8, &message.due_ms, sizeof message.due_ms);
    bytes_.append(head.data(), head.size());
    bytes_.append(message.payload);
  }
  void claimed(std::size_t count) { bytes_.append(count * kClaimRecord, '\0'); }
  void acked(std::size_t count) { bytes_.append(count * kAckRecord, '\0'); }

  /// All of them, with a checksum over the whole.
  [[nodiscard]] std::string_view sealed() {
    const std::uint32_t crc = base::crc32c(bytes_);
    std::memcpy(bytes_.data(), &crc, sizeof crc);
    return bytes_;
  }

 private:
  static constexpr std::size_t kBatchHead = 48;
  static constexpr std::size_t kPutHead = 52;      // like kPutFixedBytes: a put without its payload
  static constexpr std::size_t kClaimRecord = 20;  // like kClaimedItemBytes
  static constexpr std::size_t kAckRecord = 12;    // like kRefBytes

  std::string bytes_;
};

}  // namespace tarry::bench
