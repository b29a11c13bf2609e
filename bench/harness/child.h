// Child: a function run in a process of its own, so that its memory can be measured or limited, and
// so that it can be killed. Numbers pass in both directions through pipes.
//
// Thread safety: none. It forks, so the program must have no other threads.
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
  /// The next number from the other side. Ends the program if the other side has ended without one.
  [[nodiscard]] double hear();

 private:
  int in_;
  int out_;
};

class Child {
 public:
  explicit Child(const std::function<void(Wire&)>& body);
  ~Child();  // kills the child if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] double hear() { return wire_->hear(); }
  void tell(double number) { wire_->tell(number); }
  /// Sends SIGKILL.
  void kill();
  /// Waits for the child's end; a bad one ends the program.
  void join();

 private:
  pid_t pid_ = 0;
  std::unique_ptr<Wire> wire_;
};

/// Bytes of this process that are in RAM and belong to no file.
[[nodiscard]] double anonymous_bytes();

}  // namespace tarry::bench
