#include <algorithm>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include "base/text.h"
#include "wire/json_reader.h"

namespace tarry::wire {
namespace {

namespace json = boost::json;
using JsonError = boost::system::error_code;

// Builds the tree, and refuses a name that occurs twice in an object: the library would keep the
// last one and let the first pass unseen.
class Handler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit Handler(json::storage_ptr storage) { stack_.reset(std::move(storage)); }

  [[nodiscard]] json::value release() { return stack_.release(); }
  [[nodiscard]] const std::optional<std::string>& twice() const noexcept { return twice_; }

  bool on_document_begin(JsonError&) { return true; }
  bool on_document_end(JsonError&) { return true; }
  bool on_object_begin(JsonError&) { return true; }
  bool on_object_end(std::size_t n, JsonError& error) {
    if (has_duplicate(n)) {
      error = json::error::syntax;
      return false;
    }
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(JsonError&) { return true; }
  bool on_array_end(std::size_t n, JsonError&) {
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
  bool on_string(json::string_view s, std::size_t, JsonError&) {
    stack_.push_string(s);
    return true;
  }
  bool on_number_part(json::string_view, JsonError&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, JsonError&) {
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, JsonError&) {
    stack_.push_uint64(value);
    return true;
  }
  bool on_double(double value, json::string_view, JsonError&) {
    stack_.push_double(value);
    return true;
  }
  bool on_bool(bool value, JsonError&) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(JsonError&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, JsonError&) { return true; }
  bool on_comment(json::string_view, JsonError&) { return true; }

 private:
  // The last `n` names are those of the object that ends; they are forgotten.
  bool has_duplicate(std::size_t n) {
    own_.clear();
    std::size_t end = names_.size();
    for (; n > 0; --n) {
      end -= lengths_.back();
      own_.push_back(std::string_view(names_).substr(end, lengths_.back()));
      lengths_.pop_back();
    }
    std::ranges::sort(own_);
    const auto found = std::ranges::adjacent_find(own_);
    const bool duplicate = found != own_.end();
    if (duplicate) twice_ = std::string(*found);
    names_.resize(end);
    return duplicate;
  }

  json::value_stack stack_;
  std::string names_;  // of all objects that are open, one after the other
  std::vector<std::size_t> lengths_;
  std::vector<std::string_view> own_;
  std::optional<std::string> twice_;
};

}  // namespace

Document::Document(std::size_t size) : memory_(std::max<std::size_t>(size, 1024)) {}

MaybeError Document::parse(std::string_view text, std::string_view what) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<Handler> parser(options, json::storage_ptr(&memory_));
  JsonError error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) {
    root_.emplace(parser.handler().release());
    return std::nullopt;
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
