// UniqueFunction<R(Args...)>: a callable that is moved, never copied, so that callbacks may own
// promises, sockets and buffers (std::move_only_function is C++23).
//
// A callable of up to 48 bytes that moves without throwing is stored inside the object, any other
// on the heap. Thread safety: as safe as the callable.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tarry {

template <typename Signature>
class UniqueFunction;

namespace detail {
/// Types whose objects may hold no callable. A UniqueFunction made from an object without a
/// callable is empty too.
template <typename F>
inline constexpr bool may_be_empty = std::is_pointer_v<F> || std::is_member_pointer_v<F>;
template <typename Signature>
inline constexpr bool may_be_empty<std::function<Signature>> = true;
template <typename Signature>
inline constexpr bool may_be_empty<UniqueFunction<Signature>> = true;

[[noreturn]] inline void empty_function_called() noexcept {
  std::fputs("tarry: broken invariant: an empty function is called\n", stderr);
  std::abort();
}
}  // namespace detail

template <typename R, typename... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}  // NOLINT: implicit on purpose, as in std

  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  UniqueFunction(F&& callable) {  // NOLINT: implicit on purpose, as in std
    using Callable = std::decay_t<F>;
    if constexpr (detail::may_be_empty<Callable> &&
                  !std::is_function_v<std::remove_reference_t<F>>) {
      if (!static_cast<bool>(callable)) return;
    }
    if constexpr (fits<Callable>) {
      ::new (static_cast<void*>(space_)) Callable(std::forward<F>(callable));
      invoke_ = [](void* space, Args... args) -> R {
        return call(*static_cast<Callable*>(space), std::forward<Args>(args)...);
      };
      manage_ = [](void* from, void* to) noexcept {
        auto* source = static_cast<Callable*>(from);
        if (to != nullptr) ::new (to) Callable(std::move(*source));
        source->~Callable();
      };
    } else {
      ::new (static_cast<void*>(space_)) Callable*(new Callable(std::forward<F>(callable)));
      invoke_ = [](void* space, Args... args) -> R {
        return call(**static_cast<Callable**>(space), std::forward<Args>(args)...);
      };
      manage_ = [](void* from, void* to) noexcept {
        Callable* owned = *static_cast<Callable**>(from);
        if (to != nullptr) {
          ::new (to) Callable*(owned);
        } else {
          delete owned;
        }
      };
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  UniqueFunction& operator=(std::nullptr_t) noexcept {
    reset();
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return invoke_ != nullptr; }

  /// Aborts when empty.
  R operator()(Args... args) {
    if (invoke_ == nullptr) detail::empty_function_called();
    return invoke_(space_, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t kSpace = 48;

  template <typename Callable>
  static constexpr bool fits =
      sizeof(Callable) <= kSpace && alignof(Callable) <= alignof(std::max_align_t) &&
      std::is_nothrow_move_constructible_v<Callable>;

  template <typename Callable>
  static R call(Callable& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      std::invoke(callable, std::forward<Args>(args)...);
    } else {
      return static_cast<R>(std::invoke(callable, std::forward<Args>(args)...));
    }
  }

  void take(UniqueFunction& other) noexcept {
    if (other.invoke_ == nullptr) return;
    other.manage_(other.space_, space_);
    invoke_ = std::exchange(other.invoke_, nullptr);
    manage_ = std::exchange(other.manage_, nullptr);
  }

  void reset() noexcept {
    if (invoke_ == nullptr) return;
    // This object is emptied first, because the callable's destructor may lead back to this
    // function.
    invoke_ = nullptr;
    std::exchange(manage_, nullptr)(space_, nullptr);
  }

  alignas(std::max_align_t) std::byte space_[kSpace];
  R (*invoke_)(void* space, Args... args) = nullptr;
  /// Moves the callable from `from` to `to` and destroys the one in `from`. If `to` is null, it
  /// only destroys.
  void (*manage_)(void* from, void* to) noexcept = nullptr;
};

}  // namespace tarry
