// Reading JSON from outside: a strictly parsed document, and Fields, which reads an object field by
// field and describes an error in one line.
//
// The document refuses text that is not RFC 8259 in UTF-8, a name that occurs twice in one object,
// nesting deeper than kMaxDepth, and more items or values than its limits. Fields refuses a field
// of the wrong type, both forms of one value (for a time, only if they differ) and, on the server,
// an unknown field.
//
// Thread safety: none. Views point into the document.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/limits.h"
#include "core/rules/validation.h"

namespace tarry::wire {

using core::MaybeError;

inline constexpr std::size_t kMaxDepth = 16;
// Above this number, one double stands for several whole numbers.
inline constexpr double kMaxExact = 9'007'199'254'740'992;
// Enough for a full batch in which each item has 20 fields and 20 headers. A header in its longest
// form is four values: a pair, its name, an object and the text in it.
inline constexpr std::size_t kMaxValues = core::kMaxBatch * (20 + 20 * 4);

/// Limits besides the size. A value of one byte takes twenty bytes or more in memory, so a text
/// with more values than this is refused before it is read.
struct JsonLimits {
  std::size_t items;   // of the outermost array, or of an array in a field of the outermost object
  std::size_t values;  // of the whole text
};
/// For requests, which may come from anybody.
inline constexpr JsonLimits kRequestLimits{core::kMaxBatch, kMaxValues};
/// For the answers of a server.
inline constexpr JsonLimits kAnswerLimits{std::numeric_limits<std::size_t>::max(),
                                          std::numeric_limits<std::size_t>::max()};

class Document {
 public:
  /// `size`: about how many bytes the text will have.
  explicit Document(std::size_t size, const JsonLimits& limits = kRequestLimits);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// Call `parse` once per document. Errors: `invalid_argument`, which names the byte; `too_large`
  /// above the limits. `what` names the text.
  [[nodiscard]] MaybeError parse(std::string_view text, std::string_view what = "the body");
  /// Call `root` only after `parse`.
  [[nodiscard]] const boost::json::value& root() const noexcept { return *root_; }

 private:
  JsonLimits limits_;
  boost::json::monotonic_resource memory_;
  std::optional<boost::json::value> root_;
};

/// `the string "5"`, `the number 1.5`, `an object`, ...: for messages.
[[nodiscard]] std::string describe(const boost::json::value& value);

/// Reads a value in a list that may be any bytes: a string, or {"base64":"..."}. `scratch` holds
/// the decoded bytes. `what` names the value in the error.
[[nodiscard]] MaybeError read_bytes(const boost::json::value& value, std::string_view what,
                                    std::string& scratch, std::string_view& bytes);

/// Reads a string in Base64, and decodes it into `bytes`. `what` names the value in the error.
[[nodiscard]] MaybeError read_base64(const boost::json::value& value, std::string_view what,
                                     std::string& bytes);

enum class Unknown : std::uint8_t {
  refused,  // on the server, where a misspelt field must not count as a missing one
  ignored,  // on the client: the server may be newer
};

/// A getter returns nothing if the field is absent or wrong. The first error is kept for `finish`,
/// which must be called last.
class Fields {
 public:
  /// `what` names the value in the error if it is not an object: "the message".
  Fields(const boost::json::value& value, std::string_view what, Unknown unknown);

  [[nodiscard]] bool has(std::string_view name) const noexcept;
  std::optional<std::string_view> text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t min, std::uint64_t max);
  /// Any 32-bit number. `least` and `most` only appear in the error; the caller must check them.
  std::optional<std::uint32_t> u32(std::string_view name, std::uint64_t least = 0,
                                   std::uint64_t most = std::numeric_limits<std::uint32_t>::max());
  std::optional<std::uint64_t> u64(std::string_view name);
  std::optional<double> real(std::string_view name);
  /// An id is a decimal string.
  std::optional<std::uint64_t> id(std::string_view name);
  /// NAME, or NAME_base64. The view is valid as long as the document and `scratch` exist.
  std::optional<std::string_view> bytes(std::string_view name, std::string_view name_base64,
                                        std::string& scratch);
  /// NAME ("30s", or whole milliseconds), or NAME_ms (whole milliseconds). A number with a decimal
  /// point is refused, because Java's libraries write seconds that way.
  std::optional<Millis> duration(std::string_view name, std::string_view name_ms);
  /// The same, but it may be negative: "-30s".
  std::optional<Millis> signed_duration(std::string_view name, std::string_view name_ms);
  /// NAME (RFC 3339, or whole milliseconds since 1970), or NAME_ms (whole milliseconds); or both
  /// (as in answers), if they are the same time. A number must pass check_time_number, unless a
  /// text beside it has the same time.
  std::optional<Time> moment(std::string_view name, std::string_view name_ms);
  /// Whole milliseconds, without a decimal point. Answers have them beside the text for people.
  std::optional<std::int64_t> millis(std::string_view name_ms);
  std::optional<Time> time(std::string_view name_ms);
  /// "delay" or "due", in any of their forms.
  std::optional<Due> due();
  const boost::json::array* array(std::string_view name);
  const boost::json::value* any(std::string_view name);

  /// One of the values of an enum that has a `to_string`.
  template <typename Enum>
  std::optional<Enum> choice(std::string_view name, std::initializer_list<Enum> values) {
    const auto word = text(name);
    if (!word) return std::nullopt;
    for (const Enum value : values) {
      if (*word == to_string(value)) return value;
    }
    std::string known;
    for (const Enum value : values) {
      known += (known.empty() ? "" : ", ") + std::string(to_string(value));
    }
    fail_choice(name, *word, known);
    return std::nullopt;
  }

  /// Fails if the field is absent.
  void require(std::string_view name);
  void fail(Error error);
  [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
  /// The first error, or the unknown field.
  [[nodiscard]] MaybeError finish();

 private:
  const boost::json::value* take(std::string_view name);
  const boost::json::value* find(std::string_view name);
  std::optional<Millis> duration_of(std::string_view name, std::string_view name_ms,
                                    bool may_be_negative);
  std::optional<std::int64_t> moment_of(std::string_view name, const boost::json::value& value);
  bool only_one(std::string_view a, std::string_view b);
  void no_millis(std::string_view name, std::string_view wanted, const boost::json::value& got);
  void wrong_type(std::string_view name, std::string_view wanted, const boost::json::value& got);
  void fail_choice(std::string_view name, std::string_view word, const std::string& known);

  const boost::json::object* object_ = nullptr;
  std::string_view what_;
  Unknown unknown_;
  std::ptrdiff_t next_ = 0;  // the index after the field that was found last
  std::size_t taken_ = 0;
  std::array<std::string_view, 32> asked_{};
  std::size_t asked_count_ = 0;
  MaybeError error_;
};

}  // namespace tarry::wire
