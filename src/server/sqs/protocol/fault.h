// Fault: an error as SQS tells it. Each kind has a name for the JSON protocol, a code for the query
// protocol (older SDKs know the errors by that one), and a status of HTTP.
//
// Plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::sqs {

enum class Kind : std::uint8_t {
  access_denied,
  already_exists,
  batch_ids_not_distinct,
  batch_too_long,
  empty_batch,
  incomplete_signature,
  internal,
  invalid_action,
  invalid_attribute_name,
  invalid_attribute_value,
  invalid_batch_id,
  invalid_contents,
  invalid_token,
  invalid_value,
  malformed,
  missing_parameter,
  missing_token,
  no_such_queue,
  not_a_receipt,
  not_in_flight,
  not_found,
  over_limit,
  signature_wrong,
  too_large,
  too_many_entries,
  throttled,
  unavailable,
  unsupported,
  count_,
};

struct KindNames {
  std::string_view json;   // of `__type`, without its prefix
  std::string_view query;  // of <Code>, and of x-amzn-query-error
  unsigned status;
};
[[nodiscard]] const KindNames& names_of(Kind kind) noexcept;

struct Fault {
  Kind kind = Kind::internal;
  std::string message;
  std::string reason = {};          // for the log, if it differs from `message`
  std::uint32_t retry_after = 1;    // throttled, unavailable: seconds
  std::string_view code_here = {};  // an error that AWS does not have: its code, "tarry.stopping"

  [[nodiscard]] std::string_view json_name() const noexcept;
  [[nodiscard]] std::string_view query_code() const noexcept;
  [[nodiscard]] unsigned status() const noexcept { return names_of(kind).status; }
};

using MaybeFault = std::optional<Fault>;

/// The fault for an engine's error. Paths of the server's machine are removed.
[[nodiscard]] Fault fault_of(const Error& error);
[[nodiscard]] Fault invalid_value(std::string message);
[[nodiscard]] Fault missing(std::string_view parameter);
[[nodiscard]] Fault no_such_queue();

}  // namespace tarry::sqs
