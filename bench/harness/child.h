// Child: a function run in a process of its own, so that its memory can be measured or limited, and
// so that it can be killed. Numbers go back and forth through pipes.
//
// Thread safety: none. Only while the program has no other threads: it forks.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

namespace tarry::bench {

/// One end of the two pipes between a child and its parent.
class Wire {
 public:
  Wire(int in, int out) noexcept : in_(in), out_(out) {}
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void tell(double number);
  /// The next number from the other side. Ends the program where that has ended without one.
  [[nodiscard]] double hear();

 private:
  int in_;
  int out_;
};

class Child {
 public:
  explicit Child(const std::function<void(Wire&)>& body);
  ~Child();  // kills it, if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] double hear() { return wire_->hear(); }
  void tell(double number) { wire_->tell(number); }
  /// SIGKILL.
  void kill();
  /// Waits for its end, which must be a good one.
  void join();

 private:
  pid_t pid_ = 0;
  std::unique_ptr<Wire> wire_;
};

/// Bytes of this process that are in RAM and belong to no file.
[[nodiscard]] double anonymous_bytes();

}  // namespace tarry::bench
