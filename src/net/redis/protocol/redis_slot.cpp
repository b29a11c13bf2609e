#include "net/redis/protocol/redis_slot.h"

#include <boost/crc.hpp>

namespace tarry::net {

std::uint16_t redis_slot(std::string_view key) noexcept {
  if (const auto open = key.find('{'); open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  boost::crc_optimal<16, 0x1021> crc;
  crc.process_bytes(key.data(), key.size());
  return static_cast<std::uint16_t>(crc.checksum() % kRedisSlots);
}

}  // namespace tarry::net
