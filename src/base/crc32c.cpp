#include "base/crc32c.h"

#include <array>

#include "base/bytes.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace tarry::base {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;

using Table = std::array<std::uint32_t, 256>;

// kSlices[k][b] is the effect of byte b on the checksum if k more bytes follow it.
constexpr std::array<Table, 8> make_slices() {
  std::array<Table, 8> slices{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    slices[0][byte] = crc;
  }
  for (std::size_t k = 1; k < slices.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = slices[k - 1][byte];
      slices[k][byte] = (crc >> 8) ^ slices[0][crc & 0xFF];
    }
  }
  return slices;
}

constexpr std::array<Table, 8> kSlices = make_slices();

// All functions below take and return the raw register; the public functions invert it.
std::uint32_t update_by_tables(std::uint32_t crc, const char* at, std::size_t size) noexcept {
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint64_t mixed = load_u64(at) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) {
      crc ^= kSlices[7 - byte][mixed >> (8 * byte) & 0xFF];
    }
  }
  for (; size > 0; ++at, --size) {
    crc = (crc >> 8) ^ kSlices[0][(crc ^ static_cast<unsigned char>(*at)) & 0xFF];
  }
  return crc;
}

#if defined(__x86_64__)

// The processor can begin one such instruction per cycle, but each takes three cycles. So three
// neighbouring parts (lanes) of a long buffer are done at once, and their registers are then
// joined: tables move a lane's register past the following lane's bytes, which means to multiply it
// by x^(8 * kLane) modulo the polynomial.
constexpr std::size_t kLane = 1024;

// Product of two polynomials over GF(2) modulo the polynomial, bits reflected (bit 31 is x^0).
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x8000'0000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);
  }
  return product;
}

constexpr std::array<Table, 4> make_lane_shift() {
  std::uint32_t power = 0x4000'0000;  // x^1
  for (std::size_t bits = 1; bits < 8 * kLane; bits *= 2) power = multiply(power, power);
  std::array<Table, 4> shift{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t byte = 1; byte < 256; ++byte) {
      const std::size_t lowest = byte & (~byte + 1);
      shift[k][byte] = byte == lowest ? multiply(power, static_cast<std::uint32_t>(byte) << (8 * k))
                                      : shift[k][lowest] ^ shift[k][byte ^ lowest];
    }
  }
  return shift;
}

constexpr std::array<Table, 4> kLaneShift = make_lane_shift();
static_assert((kLane & (kLane - 1)) == 0 && kLane % 8 == 0);

std::uint32_t past_lane(std::uint32_t crc) noexcept {
  return kLaneShift[0][crc & 0xFF] ^ kLaneShift[1][crc >> 8 & 0xFF] ^
         kLaneShift[2][crc >> 16 & 0xFF] ^ kLaneShift[3][crc >> 24];
}

__attribute__((target("sse4.2"))) std::uint32_t update_by_instruction(std::uint32_t crc,
                                                                      const char* at,
                                                                      std::size_t size) noexcept {
  std::uint64_t first = crc;
  for (; size >= 3 * kLane; at += 3 * kLane, size -= 3 * kLane) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      first = _mm_crc32_u64(first, load_u64(at + i));
      second = _mm_crc32_u64(second, load_u64(at + kLane + i));
      third = _mm_crc32_u64(third, load_u64(at + 2 * kLane + i));
    }
    const std::uint32_t joined =
        past_lane(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    first = past_lane(joined) ^ static_cast<std::uint32_t>(third);
  }
  for (; size >= 8; at += 8, size -= 8) first = _mm_crc32_u64(first, load_u64(at));
  crc = static_cast<std::uint32_t>(first);
  for (; size > 0; ++at, --size) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*at));
  return crc;
}

std::uint32_t update(std::uint32_t crc, const char* at, std::size_t size) noexcept {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  return has_instruction ? update_by_instruction(crc, at, size) : update_by_tables(crc, at, size);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

std::uint32_t update(std::uint32_t crc, const char* at, std::size_t size) noexcept {
  for (; size >= 8; at += 8, size -= 8) crc = __crc32cd(crc, load_u64(at));
  for (; size > 0; ++at, --size) crc = __crc32cb(crc, static_cast<unsigned char>(*at));
  return crc;
}

#else

std::uint32_t update(std::uint32_t crc, const char* at, std::size_t size) noexcept {
  return update_by_tables(crc, at, size);
}

#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  return ~update(~seed, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::uint32_t detail::crc32c_tables(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  return ~update_by_tables(~seed, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace tarry::base
