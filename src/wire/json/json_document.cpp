#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include "base/assert.h"
#include "base/text/text.h"
#include "wire/json/json_reader.h"

namespace tarry::wire {
namespace {

namespace json = boost::json;
using JsonError = boost::system::error_code;

// Builds the tree, within its limits, and refuses a name that occurs twice in an object: the
// library would keep the last one and silently drop the first.
class Handler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  Handler(json::storage_ptr storage, const JsonLimits& limits) : limits_(limits) {
    stack_.reset(std::move(storage));
  }

  [[nodiscard]] json::value release() { return stack_.release(); }
  [[nodiscard]] const std::optional<std::string>& twice() const noexcept { return twice_; }
  /// Names the part of the text that exceeds a limit, and the limit.
  [[nodiscard]] const std::optional<std::string>& too_many() const noexcept { return too_many_; }
  /// The field whose array has too many items; empty: the limit concerns the whole text.
  [[nodiscard]] const std::string& array() const noexcept { return array_; }

  bool on_document_begin(JsonError&) { return true; }
  bool on_document_end(JsonError&) { return true; }
  bool on_object_begin(JsonError& error) { return count(error) && open(false); }
  bool on_object_end(std::size_t n, JsonError& error) {
    --depth_;
    if (has_duplicate(n)) {
      error = json::error::syntax;
      return false;
    }
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(JsonError& error) { return count(error) && open(true); }
  bool on_array_end(std::size_t n, JsonError&) {
    --depth_;
    stack_.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view s, std::size_t, JsonError&) {
    names_.append(s.data(), s.size());
    stack_.push_chars(s);
    return true;
  }
  bool on_key(json::string_view s, std::size_t n, JsonError&) {
    names_.append(s.data(), s.size());
    lengths_.push_back(n);
    stack_.push_key(s);
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, JsonError&) {
    stack_.push_chars(s);
    return true;
  }
  bool on_string(json::string_view s, std::size_t, JsonError& error) {
    if (!count(error)) return false;
    stack_.push_string(s);
    return true;
  }
  bool on_number_part(json::string_view, JsonError&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, JsonError& error) {
    if (!count(error)) return false;
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, JsonError& error) {
    if (!count(error)) return false;
    stack_.push_uint64(value);
    return true;
  }
  // As a time, 7e2 is accepted as a whole number and 700.0 is refused. Both are the same double, so
  // only this place, which sees the text, can tell them apart.
  bool on_double(double value, json::string_view text, JsonError& error) {
    if (!count(error)) return false;
    const bool whole = std::abs(value) <= kMaxExact && std::trunc(value) == value;
    if (whole && text.find('.') == json::string_view::npos) {
      stack_.push_int64(static_cast<std::int64_t>(value));
    } else {
      stack_.push_double(value);
    }
    return true;
  }
  bool on_bool(bool value, JsonError& error) {
    if (!count(error)) return false;
    stack_.push_bool(value);
    return true;
  }
  bool on_null(JsonError& error) {
    if (!count(error)) return false;
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, JsonError&) { return true; }
  bool on_comment(json::string_view, JsonError&) { return true; }

 private:
  struct Open {
    bool is_array = false;
    std::size_t items = 0;
  };

  bool open(bool is_array) {
    TARRY_ASSERT(depth_ < open_.size());
    open_[depth_++] = {is_array, 0};
    return true;
  }

  bool count(JsonError& error) {
    if (++values_ > limits_.values) return refuse("values", limits_.values, error);
    if (depth_ == 0 || depth_ > 2) return true;
    Open& within = open_[depth_ - 1];
    if (!within.is_array || ++within.items <= limits_.items) return true;
    if (depth_ == 2 && !open_[0].is_array) {
      array_ = std::string_view(names_).substr(names_.size() - lengths_.back());
    }
    return refuse("items", limits_.items, error);
  }

  bool refuse(std::string_view things, std::size_t limit, JsonError& error) {
    too_many_ = std::to_string(limit + 1) + " " + std::string(things) + " or more; the limit is " +
                std::to_string(limit) + " a request";
    error = json::error::array_too_large;
    return false;
  }

  // Whether the object that ends here has a name twice. Its names are the last `n`; they are
  // removed.
  bool has_duplicate(std::size_t n) {
    own_.clear();
    std::size_t end = names_.size();
    for (; n > 0; --n) {
      end -= lengths_.back();
      own_.push_back(std::string_view(names_).substr(end, lengths_.back()));
      lengths_.pop_back();
    }
    // By length first, so that few names are compared byte by byte.
    std::ranges::sort(own_, [](std::string_view a, std::string_view b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    const auto found = std::ranges::adjacent_find(own_);
    const bool duplicate = found != own_.end();
    if (duplicate) twice_ = std::string(*found);
    names_.resize(end);
    return duplicate;
  }

  const JsonLimits limits_;
  std::size_t values_ = 0;
  std::array<Open, kMaxDepth> open_{};
  std::size_t depth_ = 0;
  std::string array_;
  std::optional<std::string> too_many_;
  json::value_stack stack_;
  std::string names_;  // the names in all open objects, joined
  std::vector<std::size_t> lengths_;
  std::vector<std::string_view> own_;
  std::optional<std::string> twice_;
};

}  // namespace

Document::Document(std::size_t size, const JsonLimits& limits)
    : limits_(limits), memory_(std::max<std::size_t>(size, 1024)) {}

MaybeError Document::parse(std::string_view text, std::string_view what) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<Handler> parser(options, json::storage_ptr(&memory_), limits_);
  JsonError error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) {
    root_.emplace(parser.handler().release());
    return std::nullopt;
  }
  if (const auto& too_many = parser.handler().too_many()) {
    const std::string& array = parser.handler().array();
    const std::string holder = array.empty() ? std::string(what) : base::quoted(array);
    return Error{ErrorCode::too_large, holder + " has " + *too_many};
  }
  if (parser.handler().twice()) {
    return Error{ErrorCode::invalid_argument,
                 "the field " + base::quoted(*parser.handler().twice()) + " occurs twice"};
  }
  if (error == json::error::too_deep) {
    return Error{ErrorCode::invalid_argument, "the JSON is nested deeper than the limit of " +
                                                  std::to_string(kMaxDepth) + " levels"};
  }
  if (text.empty())
    return Error{ErrorCode::invalid_argument, std::string(what) + " is empty, not JSON"};
  return Error{ErrorCode::invalid_argument, std::string(what) + " is not JSON: " + error.message() +
                                                " at byte " + std::to_string(used)};
}

}  // namespace tarry::wire
