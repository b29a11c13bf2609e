// SyncPolicy: when an answer of a store counts as durable.
//
// Plain value.
#pragma once

#include <cstdint>

namespace tarry::embedded {

/// When an answer counts as durable.
enum class SyncPolicy : std::uint8_t {
  always,       // after fdatasync
  every_100ms,  // after the write; synced at most 100 ms later, which is the loss window
  os,           // after the write; the operating system syncs when it likes
};

}  // namespace tarry::embedded
