// Costs of a message for each engine. All figures were measured; costs.cpp names their sources.
//
// Plain values. Thread safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tarry/result.h>

namespace tarry::app::sizing {

enum class Engine : std::uint8_t { file, redis, redis_cluster };

/// A figure that grows with the payload: `a_message + a_byte * payload`.
struct Linear {
  double a_message = 0;
  double a_byte = 0;

  [[nodiscard]] double of(double payload) const noexcept { return a_message + a_byte * payload; }
};

/// Costs of a message's life (push, claim, settle), and of a pending message.
struct Costs {
  Linear server_us;            // processor time of the store (Redis: besides call_us)
  double call_us = 0;          // Redis: processor time of one call of a script at one shard
  double client_us = 0;        // processor time of the process that pushes, claims and settles
  Linear memory;               // bytes of a pending message in RAM
  Linear disk;                 // bytes of a pending message on disk
  Linear written;              // bytes per life that are written to disk
  Linear in;                   // bytes per life that go to the server
  Linear out;                  // bytes per life that come from the server
  double restart = 0;          // how much a restart loads per second: bytes in RAM (file: messages)
  double lateness_p99_ms = 0;  // file: all of it; Redis: what is added to the server's own time
  std::string_view source;
};

[[nodiscard]] const Costs& costs_of(Engine engine) noexcept;

/// "file", "redis" or "redis-cluster"; nothing for any other word.
[[nodiscard]] std::optional<Engine> engine_named(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(Engine engine) noexcept;

}  // namespace tarry::app::sizing
