// Result<T>: a value or an Error, with std::expected's names. No module of tarry throws exceptions
// to its caller. A caller must not ignore a Result ([[nodiscard]]).
//
// Thread safety: that of the value in it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

/// Marks a function whose result refers into the object and must not outlive it. clang checks this.
#if defined(__clang__)
#define TARRY_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define TARRY_LIFETIMEBOUND
#endif

namespace tarry {

/// An error code tells the caller what to do next. It does not tell where in the code the error
/// occurred.
enum class ErrorCode : std::uint8_t {
  invalid_argument,   ///< fix the input: the message names the value and the limit
  too_large,          ///< fix the input: it is over a size limit
  unsupported,        ///< this engine can never do it
  not_found,          ///< there is no such queue, message or file
  conflict,           ///< another process holds it (a locked store)
  unavailable,        ///< retry later: the store cannot be reached or is starting
  no_space,           ///< retry once there is room: nothing was accepted
  closed,             ///< the store was closed; this handle does nothing more
  unknown_outcome,    ///< the answer was lost on the way: it may or may not have been done
  damaged,            ///< page someone: bytes that were accepted are damaged
  io_error,           ///< page someone: the storage failed; the engine has stopped
  permission_denied,  ///< fix the rights: the operating system or the server refused
  misuse,             ///< fix the program: a call that could only deadlock or break a contract
};

/// "invalid_argument", "no_space", ...: stable, used in JSON and logs.
[[nodiscard]] constexpr std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::too_large: return "too_large";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::no_space: return "no_space";
    case ErrorCode::closed: return "closed";
    case ErrorCode::unknown_outcome: return "unknown_outcome";
    case ErrorCode::damaged: return "damaged";
    case ErrorCode::io_error: return "io_error";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::misuse: return "misuse";
  }
  return "unknown";
}

/// An error: a code that says what to do next, and one line of text that names the value and the
/// limit.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

/// "no_space": the text of `to_string`.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             ErrorCode code) {
  return out << to_string(code);
}
/// "no_space: the disk is full".
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Error& error) {
  return out << to_string(error.code) << ": " << error.message;
}

/// Wraps an Error, so that a Result<T> can be made from an error even if T itself can be made from
/// an Error.
class Unexpected {
 public:
  explicit Unexpected(Error error) : error_(std::move(error)) {}
  Unexpected(ErrorCode code, std::string message) : error_{code, std::move(message)} {}
  [[nodiscard]] Error& error() & noexcept { return error_; }
  [[nodiscard]] Error&& error() && noexcept { return std::move(error_); }

 private:
  Error error_;
};

namespace detail {
/// Prints to stderr the error that was used as a value, and aborts.
[[noreturn]] void no_value(const Error& error) noexcept;
}  // namespace detail

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  // NOLINTBEGIN(google-explicit-constructor): implicit on purpose, so that values can be returned.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Unexpected error) : state_(std::in_place_index<1>, std::move(error).error()) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. If there is none, prints the error to stderr and aborts: such a call is a broken
  /// invariant, not an outcome.
  ///
  /// A temporary Result returns the value itself, not a reference. So in `for (const auto& delivery
  /// : *queue.claim())` the list lives as long as the loop. `->` cannot do that: `for (const auto&
  /// message : queue.list()->messages)` uses a page that is already destroyed. Write
  /// `(*queue.list()).messages`, or keep the Result in a variable.
  [[nodiscard]] T& value() & noexcept TARRY_LIFETIMEBOUND { return checked(); }
  [[nodiscard]] const T& value() const& noexcept TARRY_LIFETIMEBOUND { return checked(); }
  [[nodiscard]] T value() && { return std::move(checked()); }
  [[nodiscard]] T value() const&& { return checked(); }
  [[nodiscard]] T& operator*() & noexcept TARRY_LIFETIMEBOUND { return checked(); }
  [[nodiscard]] const T& operator*() const& noexcept TARRY_LIFETIMEBOUND { return checked(); }
  [[nodiscard]] T operator*() && { return std::move(checked()); }
  [[nodiscard]] T operator*() const&& { return checked(); }
  [[nodiscard]] T* operator->() noexcept TARRY_LIFETIMEBOUND { return &checked(); }
  [[nodiscard]] const T* operator->() const noexcept TARRY_LIFETIMEBOUND { return &checked(); }

  template <typename U = T>
  [[nodiscard]] T value_or(U&& other) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(other));
  }
  template <typename U = T>
  [[nodiscard]] T value_or(U&& other) && {
    return has_value() ? std::move(checked()) : static_cast<T>(std::forward<U>(other));
  }

  /// The error. Aborts if there is none.
  [[nodiscard]] const Error& error() const& noexcept TARRY_LIFETIMEBOUND {
    const Error* const error = std::get_if<1>(&state_);
    if (error == nullptr) std::abort();
    return *error;
  }
  [[nodiscard]] Error error() && noexcept {
    Error* const error = std::get_if<1>(&state_);
    if (error == nullptr) std::abort();
    return std::move(*error);
  }

 private:
  T& checked() noexcept {
    T* const value = std::get_if<0>(&state_);
    if (value == nullptr) detail::no_value(*std::get_if<1>(&state_));
    return *value;
  }
  const T& checked() const noexcept { return const_cast<Result*>(this)->checked(); }

  std::variant<T, Error> state_;
};

/// A Result without a value: success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Unexpected error) : error_(std::move(error).error()) {}  // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}               // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const Error& error() const& noexcept TARRY_LIFETIMEBOUND {
    if (!error_) std::abort();
    return *error_;
  }
  [[nodiscard]] Error error() && noexcept {
    if (!error_) std::abort();
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tarry
