#include "engines/embedded/journal/journal_format.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/planted.h"

namespace tarry::embedded {
namespace {

constexpr std::string_view kSegmentMagic = "TARRYSEG";
constexpr std::uint32_t kBatchMagic = 0x42595254;  // "TRYB"
constexpr std::string_view kSuffix = ".seg";
constexpr std::size_t kDigits = 10;

std::uint32_t batch_crc(std::string_view batch) {
  return base::crc32c(batch.substr(8));  // all but magic and the checksum itself
}

}  // namespace

// magic 8, crc 4, version 4, shard 4, flags 4, store 8, segment 8, salt 8, first batch 8, sealed
// segment 8, length 8, last batch 8; the rest of 96 is zero.
std::string encode(const SegmentHeader& header) {
  std::string out;
  out.reserve(kSegmentHeaderBytes);
  base::ByteWriter to(out);
  to.bytes(kSegmentMagic);
  to.u32(0);
  to.u32(header.version);
  to.u32(header.shard);
  to.u32(header.seal.proven ? 1 : 0);
  to.u64(header.store_id);
  to.u64(header.segment);
  to.u64(header.salt);
  to.u64(header.first_batch);
  to.u64(header.seal.segment);
  to.u64(header.seal.length);
  to.u64(header.seal.last_batch);
  out.resize(kSegmentHeaderBytes, '\0');
  base::store_u32(out.data() + 8, base::crc32c(std::string_view(out).substr(12)));
  return out;
}

DecodedHeader decode_segment_header(std::string_view bytes) {
  if (bytes.size() < kSegmentHeaderBytes) {
    const bool blank = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
    return {blank ? HeaderState::blank : HeaderState::broken, {}};
  }
  bytes = bytes.substr(0, kSegmentHeaderBytes);
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; })) {
    return {HeaderState::blank, {}};
  }
  if (bytes.substr(0, 8) != kSegmentMagic) return {HeaderState::broken, {}};
  if (base::load_u32(bytes.data() + 8) != base::crc32c(bytes.substr(12))) {
    return {HeaderState::broken, {}};
  }
  DecodedHeader decoded{HeaderState::valid, {}};
  SegmentHeader& header = decoded.header;
  header.version = base::load_u32(bytes.data() + 12);
  header.shard = base::load_u32(bytes.data() + 16);
  header.seal.proven = (base::load_u32(bytes.data() + 20) & 1) != 0;
  header.store_id = base::load_u64(bytes.data() + 24);
  header.segment = base::load_u64(bytes.data() + 32);
  header.salt = base::load_u64(bytes.data() + 40);
  header.first_batch = base::load_u64(bytes.data() + 48);
  header.seal.segment = base::load_u64(bytes.data() + 56);
  header.seal.length = base::load_u64(bytes.data() + 64);
  header.seal.last_batch = base::load_u64(bytes.data() + 72);
  if (header.version == 0 || header.version > kFormatVersion) decoded.state = HeaderState::newer;
  return decoded;
}

DecodedHeader decode_segment_header(std::string_view bytes, const SegmentPlace& place) {
  DecodedHeader decoded = decode_segment_header(bytes);
  const SegmentHeader& header = decoded.header;
  if (decoded.state == HeaderState::valid && header.store_id == place.store_id &&
      header.shard == place.shard && header.segment < place.segment) {
    decoded.state = HeaderState::blank;
  }
  return decoded;
}

std::uint64_t salt_of(const SegmentPlace& place, std::uint64_t hash_seed) noexcept {
  std::array<char, 24> bytes{};
  base::store_u64(bytes.data(), place.store_id);
  base::store_u64(bytes.data() + 8, place.segment);
  base::store_u64(bytes.data() + 16, place.shard);
  return base::keyed_hash({bytes.data(), bytes.size()}, hash_seed);
}

// magic 4, crc 4, body bytes 4, zero 4, salt 8, number 8, durable 8, realtime 8.
void seal_batch(std::string& batch, const BatchHeader& header) {
  char* to = batch.data();
  base::store_u32(to, kBatchMagic);
  base::store_u32(to + 8, header.body_bytes);
  base::store_u32(to + 12, 0);
  base::store_u64(to + 16, header.salt);
  base::store_u64(to + 24, header.number);
  base::store_u64(to + 32, header.durable);
  base::store_u64(to + 40, static_cast<std::uint64_t>(header.realtime_ms));
  base::store_u32(to + 4, batch_crc(batch));
  batch.resize(padded(batch.size()), '\0');
}

bool has_salt(std::string_view bytes, std::uint64_t salt) noexcept {
  return bytes.size() >= kBatchHeaderBytes && base::load_u64(bytes.data() + 16) == salt;
}

std::optional<BatchHeader> peek_batch_header(std::string_view bytes, std::uint64_t salt) {
  if (!has_salt(bytes, salt) || base::load_u32(bytes.data()) != kBatchMagic ||
      base::load_u32(bytes.data() + 12) != 0) {
    return std::nullopt;
  }
  BatchHeader header;
  header.body_bytes = base::load_u32(bytes.data() + 8);
  header.salt = salt;
  header.number = base::load_u64(bytes.data() + 24);
  header.durable = base::load_u64(bytes.data() + 32);
  header.realtime_ms = static_cast<std::int64_t>(base::load_u64(bytes.data() + 40));
  return header;
}

std::optional<BatchHeader> guess_batch_header(std::string_view bytes) {
  if (bytes.size() < kBatchHeaderBytes) return std::nullopt;
  return peek_batch_header(bytes, base::load_u64(bytes.data() + 16));
}

std::size_t find_batch_magic(std::string_view bytes) noexcept {
  char magic[4];
  base::store_u32(magic, kBatchMagic);
  const std::string_view wanted(magic, sizeof magic);
  std::size_t at = bytes.find(wanted);
  while (at != std::string_view::npos && at % kBatchAlignment != 0) at = bytes.find(wanted, at + 1);
  return at;
}

bool batch_checks(std::string_view batch) {
  if (batch.size() < kBatchHeaderBytes) return false;
  return base::load_u32(batch.data() + 4) == batch_crc(batch) ||
         TARRY_PLANTED_BUG(checksum_not_checked);
}

std::string segment_name(std::uint64_t segment) {
  std::string digits = std::to_string(segment);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return digits.append(kSuffix);
}

std::uint64_t segment_number(std::string_view name) {
  if (name.size() < kDigits + kSuffix.size() || name.size() > 20 ||
      name.substr(name.size() - kSuffix.size()) != kSuffix) {
    return 0;
  }
  std::uint64_t number = 0;
  for (const char c : name.substr(0, name.size() - kSuffix.size())) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return segment_name(number) == name ? number : 0;
}

}  // namespace tarry::embedded
