// What a message costs each engine: measured, each figure with where it comes from.
//
// Plain values. Thread safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tarry/result.h>

namespace tarry::app::sizing {

enum class Engine : std::uint8_t { file, redis, redis_cluster };

/// A figure is `a_message + a_byte * payload`.
struct Linear {
  double a_message = 0;
  double a_byte = 0;

  [[nodiscard]] double of(double payload) const noexcept { return a_message + a_byte * payload; }
};

/// Costs of a message's life (push, claim, settle), and of a pending message.
struct Costs {
  Linear server_us;            // processor time of the store; Redis: without the calls
  double call_us = 0;          // Redis: processor time of one call of a script at one shard
  double client_us = 0;        // processor time of the process that pushes, claims and settles
  Linear memory;               // bytes of a pending message in RAM
  Linear disk;                 // bytes of a pending message on disk
  Linear written;              // bytes a life that go to disk
  Linear in;                   // bytes a life to the server
  Linear out;                  // bytes a life from the server
  double restart = 0;          // pending bytes in RAM (file: messages) a second
  double lateness_p99_ms = 0;  // file; Redis: what comes on top of the server's own work
  std::string_view source;
};

[[nodiscard]] const Costs& costs_of(Engine engine) noexcept;

/// "file", "redis" or "redis-cluster"; nothing for any other word.
[[nodiscard]] std::optional<Engine> engine_named(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(Engine engine) noexcept;

}  // namespace tarry::app::sizing
