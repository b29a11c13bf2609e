#include "relay/coordination/zookeeper_session.h"

#include <array>
#include <cerrno>
#include <system_error>

// The header declares the calls that wait for their answer only if THREADED is defined.
#define THREADED
#include <zookeeper/zookeeper.h>

#include "base/text/text.h"

namespace tarry::relay {
namespace {

Error refusal(const std::string& path, int code) {
  const bool passing = code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT ||
                       code == ZSESSIONEXPIRED || code == ZINVALIDSTATE || code == ZCLOSING;
  const bool denied = code == ZNOAUTH || code == ZAUTHFAILED || code == ZINVALIDACL;
  return {passing  ? ErrorCode::unavailable
          : denied ? ErrorCode::permission_denied
                   : ErrorCode::io_error,
          "zookeeper: " + path + ": " + ::zerror(code)};
}

void say_nothing(const char*) {}

}  // namespace

struct ZooKeeperSession::Calls {
  static void watch(zhandle_t*, int type, int state, const char*, void* context) {
    auto& session = *static_cast<ZooKeeperSession*>(context);
    if (type == ZOO_SESSION_EVENT) {
      const bool over = state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE;
      session.state_ = over                           ? State::over
                       : state == ZOO_CONNECTED_STATE ? State::connected
                                                      : State::connecting;
    }
    session.on_news_();
  }
};

ZooKeeperSession::ZooKeeperSession(const std::string& hosts, Millis timeout,
                                   std::function<void()> on_news)
    : on_news_(std::move(on_news)) {
  ::zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = ::zookeeper_init2(hosts.c_str(), Calls::watch, static_cast<int>(timeout.count()),
                              nullptr, this, 0, say_nothing);
  // Null if memory has run out, or if the hosts cannot be looked up.
  if (handle_ == nullptr) state_ = State::over;
}

ZooKeeperSession::~ZooKeeperSession() {
  if (handle_ != nullptr) ::zookeeper_close(handle_);
}

Result<ZooKeeperSession::Made> ZooKeeperSession::make(const std::string& path, int mode,
                                                      std::string* name) {
  std::array<char, 1024> made{};
  const int code = ::zoo_create(handle_, path.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, mode,
                                made.data(), static_cast<int>(made.size()));
  if (code == ZNODEEXISTS) return Made::there;
  if (code != ZOK) return refusal(path, code);
  if (name != nullptr) *name = made.data();
  return Made::made;
}

Result<void> ZooKeeperSession::ensure(const std::string& path) {
  const int code = ::zoo_exists(handle_, path.c_str(), 0, nullptr);
  if (code == ZOK) return {};
  if (code != ZNONODE) return refusal(path, code);
  const auto made = make(path, ZOO_PERSISTENT, nullptr);
  if (!made) return made.error();
  return {};
}

Result<ZooKeeperSession::Made> ZooKeeperSession::make_ephemeral(const std::string& path) {
  return make(path, ZOO_EPHEMERAL, nullptr);
}

Result<std::string> ZooKeeperSession::make_numbered(const std::string& path) {
  std::string name;
  const auto made = make(path, ZOO_EPHEMERAL_SEQUENTIAL, &name);
  if (!made) return made.error();
  return name;
}

Result<void> ZooKeeperSession::remove(const std::string& path) {
  const int code = ::zoo_delete(handle_, path.c_str(), -1);
  if (code == ZOK || code == ZNONODE) return {};
  return refusal(path, code);
}

Result<std::vector<std::string>> ZooKeeperSession::children(const std::string& path) {
  String_vector names{};
  const int code = ::zoo_wget_children(handle_, path.c_str(), Calls::watch, this, &names);
  if (code != ZOK) return refusal(path, code);
  std::vector<std::string> all(names.data, names.data + names.count);
  ::deallocate_String_vector(&names);
  return all;
}

Result<bool> ZooKeeperSession::is_ours(const std::string& path) {
  Stat stat{};
  const int code = ::zoo_exists(handle_, path.c_str(), 0, &stat);
  if (code == ZNONODE) return false;
  if (code != ZOK) return refusal(path, code);
  return stat.ephemeralOwner == ::zoo_client_id(handle_)->client_id;
}

}  // namespace tarry::relay
