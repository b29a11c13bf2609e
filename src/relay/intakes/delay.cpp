#include "relay/intakes/delay.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/text/text.h"
#include "core/limits.h"
#include "net/rabbit/link.h"

namespace tarry::relay {
namespace {

Unexpected not_a_delay(std::string_view what, std::string_view value) {
  return {ErrorCode::invalid_argument, std::string(what) + " " + std::string(value) +
                                           " must be milliseconds, as a number or in digits"};
}

Result<std::int64_t> within_reach(std::string_view what, std::int64_t ms, std::string_view said) {
  if (ms <= core::kMaxDelayMs) return ms;
  return Unexpected(ErrorCode::invalid_argument,
                    std::string(what) + " " + std::string(said) + " is over " +
                        std::to_string(core::kMaxDelayMs) + " ms, which is 100 years");
}

Result<std::int64_t> rounded_up(std::string_view what, double ms, std::string_view said) {
  if (std::isnan(ms)) return not_a_delay(what, said);
  if (ms < 0) return std::int64_t{-1};
  // Below this number, a double is exact to the millisecond.
  if (ms > 9e15) return within_reach(what, std::numeric_limits<std::int64_t>::max(), said);
  return within_reach(what, static_cast<std::int64_t>(std::ceil(ms)), said);
}

Result<std::int64_t> from_text(std::string_view what, std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto said = std::string(base::quoted(text, 40));
  const char* end = digits.data() + digits.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(digits.data(), end, whole);
      error == std::errc() && at == end) {
    return within_reach(what, whole, said);
  }
  double number = 0;
  const auto [at, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || at != end) return not_a_delay(what, said);
  if (error == std::errc::result_out_of_range) {
    number = digits.starts_with('-') ? -1 : std::numeric_limits<double>::infinity();
  }
  return rounded_up(what, number, said);
}

}  // namespace

Result<std::int64_t> delay_of(const amqp_field_value_t& value) {
  const auto whole = [](std::int64_t ms) {
    return within_reach(kDelayHeader, ms, std::to_string(ms));
  };
  switch (value.kind) {
    case AMQP_FIELD_KIND_I8: return whole(value.value.i8);
    case AMQP_FIELD_KIND_U8: return whole(value.value.u8);
    case AMQP_FIELD_KIND_I16: return whole(value.value.i16);
    case AMQP_FIELD_KIND_U16: return whole(value.value.u16);
    case AMQP_FIELD_KIND_I32: return whole(value.value.i32);
    case AMQP_FIELD_KIND_U32: return whole(value.value.u32);
    case AMQP_FIELD_KIND_I64: return whole(value.value.i64);
    case AMQP_FIELD_KIND_U64:
      return value.value.u64 > static_cast<std::uint64_t>(core::kMaxDelayMs)
                 ? within_reach(kDelayHeader, std::numeric_limits<std::int64_t>::max(),
                                std::to_string(value.value.u64))
                 : whole(static_cast<std::int64_t>(value.value.u64));
    case AMQP_FIELD_KIND_F32: {
      const auto ms = static_cast<double>(value.value.f32);
      return rounded_up(kDelayHeader, ms, std::to_string(ms));
    }
    case AMQP_FIELD_KIND_F64:
      return rounded_up(kDelayHeader, value.value.f64, std::to_string(value.value.f64));
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      return from_text(kDelayHeader, net::rabbit::view_of(value.value.bytes));
    default: {
      const char kind = static_cast<char>(value.kind);
      return not_a_delay(kDelayHeader, std::string("of AMQP's type '") + kind + "'");
    }
  }
}

Result<std::optional<std::int64_t>> delay_of(const amqp_basic_properties_t& properties) {
  using Delay = std::optional<std::int64_t>;
  if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return Delay();
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    const amqp_table_entry_t& entry = properties.headers.entries[i];
    if (net::rabbit::view_of(entry.key) != kDelayHeader) continue;
    const auto ms = delay_of(entry.value);
    if (!ms) return ms.error();
    return Delay(*ms);
  }
  return Delay();
}

Result<std::optional<std::int64_t>> expiration_of(const amqp_basic_properties_t& properties) {
  using Delay = std::optional<std::int64_t>;
  if ((properties._flags & AMQP_BASIC_EXPIRATION_FLAG) == 0) return Delay();
  const auto ms = from_text("expiration", net::rabbit::view_of(properties.expiration));
  if (!ms) return ms.error();
  return Delay(*ms);
}

}  // namespace tarry::relay
