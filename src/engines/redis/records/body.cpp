#include "engines/redis/records/body.h"

#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engines/redis/records/member.h"

namespace tarry::redis {
namespace {

constexpr std::uint8_t kHasId = 1;
constexpr std::uint8_t kHasPriority = 2;
constexpr std::uint8_t kHasMaxAttempts = 4;
constexpr std::uint8_t kHasHeaders = 8;
constexpr std::uint8_t kHasPushed = 16;
constexpr std::uint8_t kHasExpiry = 32;
constexpr std::uint8_t kRemembered = 128;

// A push time is three bytes, little-endian: minutes since 2020, up to 2051. With a fourth byte a
// message of 100 bytes would take 16 bytes more of Redis's memory.
constexpr std::int64_t kPushedFromMs = 1'577'836'800'000;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kMostMinutes = (1 << 24) - 1;

std::optional<std::uint32_t> minutes_of(std::optional<std::int64_t> pushed_ms) noexcept {
  if (!pushed_ms || *pushed_ms < kPushedFromMs) return {};
  const std::int64_t minutes = (*pushed_ms - kPushedFromMs) / kMinuteMs;
  if (minutes > kMostMinutes) return {};
  return static_cast<std::uint32_t>(minutes);
}

std::uint32_t crc_of(const Body& body, std::string_view member) noexcept {
  return base::crc32c(body.payload, base::crc32c(body.headers, base::crc32c(member)));
}

// A time has six bytes, little-endian, as the scripts pack it.
constexpr std::size_t kTimeSize = 6;

std::int64_t load_time(const char* from) noexcept {
  return static_cast<std::int64_t>(std::uint64_t{base::load_u32(from)} |
                                   (std::uint64_t{base::load_u16(from + 4)} << 32));
}

void add_time(base::ByteWriter& writer, std::int64_t ms) {
  writer.u32(static_cast<std::uint32_t>(ms));
  writer.u16(static_cast<std::uint16_t>(ms >> 32));
}

}  // namespace

void append_head(std::string& out, const Body& body, std::string_view member) {
  std::uint8_t flags = 0;
  const auto pushed = minutes_of(body.pushed_ms);
  if (body.id != 0) flags |= kHasId;
  if (body.priority != kDefaultPriority) flags |= kHasPriority;
  if (body.max_attempts != 0) flags |= kHasMaxAttempts;
  const bool expires = body.expiry != core::Expiry();
  if (expires) flags |= kHasExpiry;
  if (pushed) flags |= kHasPushed;
  if (!body.headers.empty()) flags |= kHasHeaders;
  base::ByteWriter writer(out);
  writer.u8(flags);
  writer.u32(crc_of(body, member));
  if (body.id != 0) {
    const IdBytes id = id_bytes(body.id);
    writer.bytes(std::string_view(id.data(), id.size()));
  }
  if (body.priority != kDefaultPriority) writer.u32(body.priority);
  if (body.max_attempts != 0) writer.u16(body.max_attempts);
  if (expires) {
    add_time(writer, body.expiry.at_ms);
    add_time(writer, body.expiry.after_ms);
  }
  if (pushed) {
    writer.u16(static_cast<std::uint16_t>(*pushed));
    writer.u8(static_cast<std::uint8_t>(*pushed >> 16));
  }
  if (!body.headers.empty()) {
    writer.u16(static_cast<std::uint16_t>(body.headers.size()));
    writer.bytes(body.headers);
  }
}

std::optional<Body> read_body(std::string_view bytes) noexcept {
  base::ByteReader reader(bytes);
  std::uint8_t flags = 0;
  Body body;
  if (!reader.u8(flags) || (flags & kRemembered) != 0 || !reader.u32(body.crc)) return {};
  if ((flags & kHasId) != 0) {
    std::string_view id;
    if (!reader.bytes(kIdSize, id)) return {};
    body.id = id_from(id);
  }
  if ((flags & kHasPriority) != 0 && !reader.u32(body.priority)) return {};
  if ((flags & kHasMaxAttempts) != 0 && !reader.u16(body.max_attempts)) return {};
  if ((flags & kHasExpiry) != 0) {
    std::string_view times;
    if (!reader.bytes(2 * kTimeSize, times)) return {};
    body.expiry = {load_time(times.data()), load_time(times.data() + kTimeSize)};
  }
  if ((flags & kHasPushed) != 0) {
    std::uint16_t low = 0;
    std::uint8_t high = 0;
    if (!reader.u16(low) || !reader.u8(high)) return {};
    body.pushed_ms = kPushedFromMs + (std::int64_t{high} << 16 | low) * kMinuteMs;
  }
  if ((flags & kHasHeaders) != 0) {
    std::uint16_t size = 0;
    if (!reader.u16(size) || !reader.bytes(size, body.headers)) return {};
  }
  body.payload = bytes.substr(bytes.size() - reader.remaining());
  return body;
}

bool is_sound(const Body& body, std::string_view member) noexcept {
  return body.crc == crc_of(body, member);
}

void append_past(std::string& out, const Past& past) {
  base::ByteWriter writer(out);
  writer.u32(past.attempt);
  writer.u32(past.tallies.claims);
  writer.u32(past.tallies.run_outs);
  writer.u32(past.tallies.releases);
  writer.u32(past.tallies.buries);
  writer.u32(past.tallies.revives);
}

Past read_past(std::string_view bytes) noexcept {
  if (bytes.size() < kPastSize) return {};
  const char* at = bytes.data();
  return {base::load_u32(at),
          {base::load_u32(at + 4), base::load_u32(at + 8), base::load_u32(at + 12),
           base::load_u32(at + 16), base::load_u32(at + 20)}};
}

std::optional<Ending> ending_of(std::int64_t number) noexcept {
  constexpr Ending kEndings[] = {Ending::acked, Ending::cancelled, Ending::expired};
  if (number < 0 || std::cmp_greater_equal(number, std::size(kEndings))) return {};
  return kEndings[number];
}

std::optional<Remembered> read_remembered(std::string_view bytes) noexcept {
  constexpr std::size_t kFixed = 18;
  if (bytes.size() < kFixed + kPastSize) return {};
  const char* at = bytes.data();
  const auto flags = static_cast<std::uint8_t>(at[0]);
  const bool has_id = (flags & kHasId) != 0;
  if ((flags & kRemembered) == 0 || bytes.size() < kFixed + kPastSize + (has_id ? kIdSize : 0)) {
    return {};
  }
  Remembered remembered;
  const auto ending = ending_of(static_cast<std::uint8_t>(at[1]));
  if (!ending) return {};
  remembered.settlement.how = *ending;
  remembered.settlement.when = Time(Millis(load_time(at + 2)));
  remembered.due_ms = load_time(at + 8);
  remembered.priority = base::load_u32(at + 14);
  if (has_id) remembered.id = id_from(bytes.substr(kFixed, kIdSize));
  remembered.past = read_past(bytes.substr(kFixed + (has_id ? kIdSize : 0)));
  return remembered;
}

DeadFacts read_dead(std::string_view past_bytes) noexcept {
  if (past_bytes.size() < kPastSize + 6) return {};
  return {load_time(past_bytes.data() + kPastSize), past_bytes.substr(kPastSize + 6)};
}

}  // namespace tarry::redis
