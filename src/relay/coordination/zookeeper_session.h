// ZooKeeperSession: one session with a ZooKeeper, from its beginning to its end, and the few calls
// that coordination needs. libzookeeper stays hidden behind it.
//
// Thread safety: one thread calls; `on_news` runs on a thread of the library.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

struct _zhandle;

namespace tarry::relay {

class ZooKeeperSession {
 public:
  /// `on_news` is called when the connection is made or lost, the session is over, or the children
  /// of a node that `children` has read have changed.
  ZooKeeperSession(const std::string& hosts, Millis timeout, std::function<void()> on_news);
  ~ZooKeeperSession();  // ends it: its ephemeral nodes are removed at once, if the server can be
                        // reached
  ZooKeeperSession(const ZooKeeperSession&) = delete;
  ZooKeeperSession& operator=(const ZooKeeperSession&) = delete;

  [[nodiscard]] bool is_connected() const noexcept { return state_ == State::connected; }
  /// Whether the session is over for good: its ephemeral nodes are gone, and it cannot be used any
  /// more.
  [[nodiscard]] bool is_over() const noexcept { return state_ == State::over; }

  // Errors: `unavailable` if the connection broke; the call may or may not have been carried out.
  // Other errors name the path and the server's reason.

  enum class Made : std::uint8_t { made, there };
  /// Makes the node if it is missing. It checks first whether the node exists, so that a user
  /// without the right to make it can still use it.
  [[nodiscard]] Result<void> ensure(const std::string& path);
  [[nodiscard]] Result<Made> make_ephemeral(const std::string& path);
  /// Makes a node, and returns its whole path with the number that the server appended.
  [[nodiscard]] Result<std::string> make_numbered(const std::string& path);
  /// Removes the node; no error if it does not exist.
  [[nodiscard]] Result<void> remove(const std::string& path);
  /// The names of the node's children. Their next change causes an `on_news`.
  [[nodiscard]] Result<std::vector<std::string>> children(const std::string& path);
  /// Whether the node exists and was made by this session.
  [[nodiscard]] Result<bool> is_ours(const std::string& path);

 private:
  enum class State : std::uint8_t { connecting, connected, over };
  struct Calls;  // the library's callbacks

  [[nodiscard]] Result<Made> make(const std::string& path, int mode, std::string* name);

  const std::function<void()> on_news_;
  std::atomic<State> state_{State::connecting};
  _zhandle* handle_ = nullptr;
};

}  // namespace tarry::relay
