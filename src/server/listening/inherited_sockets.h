// InheritedSockets: sockets that listen already, and that another program, systemd for example, has
// passed to this one: the protocol of sd_listen_fds(3).
//
// Not thread safe. `take` changes the environment, so call it while there is only one thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "server/listening/reserved_port.h"

namespace tarry::listening {

class InheritedSockets {
 public:
  /// Takes over the sockets that LISTEN_FDS counts, if LISTEN_PID is this process; otherwise there
  /// are none. Removes the variables, so that no child takes the sockets for its own. Error:
  /// `invalid_argument` if LISTEN_FDS is not a count of descriptors, or if one of these
  /// descriptors is not a listening stream socket.
  [[nodiscard]] static Result<InheritedSockets> take();

  /// Gives away the socket with that address, as ReservedPort::shown writes it.
  [[nodiscard]] std::optional<ReservedPort> give(const std::string& address);

  /// Those that were not given away.
  [[nodiscard]] const std::vector<ReservedPort>& left() const noexcept { return sockets_; }

 private:
  std::vector<ReservedPort> sockets_;
};

}  // namespace tarry::listening
