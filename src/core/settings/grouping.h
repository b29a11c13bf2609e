// The groups of a queue's messages: the text of the setting (`key`, `header:NAME`, or `none`), and
// the group of a message, which is a stretch of its key or of its headers. Also the names of the
// orders in a group.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>

namespace tarry::core {

/// Error: `invalid_argument`, with the value and what it may be.
[[nodiscard]] Result<Grouping> parse_grouping(std::string_view text);
[[nodiscard]] std::string grouping_text(const Grouping& grouping);
/// Whether it is one that parse_grouping can answer.
[[nodiscard]] bool is_grouping(const Grouping& grouping) noexcept;

/// All orders in a group, in the order of their numbers.
inline constexpr std::initializer_list<GroupOrder> kEveryGroupOrder = {GroupOrder::due,
                                                                       GroupOrder::push};
/// Their names, in the same order.
[[nodiscard]] const std::vector<std::string_view>& group_order_names();
/// Empty if no order has this name.
[[nodiscard]] std::optional<GroupOrder> group_order_from(std::string_view name) noexcept;

/// Where a message's group stands: the key's bytes count first, then those of the encoded headers.
struct GroupSpan {
  std::uint32_t at = 0;
  std::uint32_t size = 0;  // 0: the message has no group

  [[nodiscard]] bool any() const noexcept { return size != 0; }
  friend bool operator==(const GroupSpan&, const GroupSpan&) = default;
};

/// False if the span is not all in the key or all in the headers.
[[nodiscard]] bool is_group_span(const GroupSpan& span, std::size_t key,
                                 std::size_t headers) noexcept;
/// The group itself. `span` must be one of this key and these headers.
[[nodiscard]] std::string_view group_in(const GroupSpan& span, std::string_view key,
                                        std::string_view headers) noexcept;

/// The group of a new message. `headers` are encoded (core/rules/headers.h). Error:
/// `invalid_argument` if the message names no group, or one over the limit.
[[nodiscard]] Result<GroupSpan> group_of(const Grouping& grouping, std::string_view queue,
                                         std::string_view key, std::string_view headers);
/// The same for a moved message: if it names no group, it is of none.
[[nodiscard]] GroupSpan moved_group(const Grouping& grouping, std::string_view key,
                                    std::string_view headers);

}  // namespace tarry::core
