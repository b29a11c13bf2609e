// Reader: reads an operation's parameters, with their limits. It keeps the first fault; after one,
// every value reads as its default, so callers check `fault()` once at the end.
//
// A number may be a JSON number or its digits as text: in the query protocol everything is text.
//
// Thread safety: none. The object must outlive the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

class Reader {
 public:
  explicit Reader(const boost::json::object& params) noexcept : params_(params) {}

  /// Absent: nothing. null counts as absent.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  /// Absent: a fault.
  [[nodiscard]] std::string_view required(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name, std::int64_t min,
                                                   std::int64_t max);
  [[nodiscard]] const boost::json::object* object(std::string_view name);
  [[nodiscard]] const boost::json::array* array(std::string_view name);

  void fail(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  [[nodiscard]] const MaybeFault& fault() const noexcept { return fault_; }

 private:
  [[nodiscard]] const boost::json::value* find(std::string_view name) const noexcept;

  const boost::json::object& params_;
  MaybeFault fault_;
};

/// A whole number of decimal digits, perhaps with a sign.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text) noexcept;
[[nodiscard]] Fault out_of_range(std::string_view name, std::string_view value, std::int64_t min,
                                 std::int64_t max);

}  // namespace tarry::sqs
