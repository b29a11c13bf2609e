// The protocols that `tarry serve` speaks. The table of kinds is the only place that names them: a
// new front is a row there, a setting, and the front's own folder.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tarry/clock.h>
#include <tarry/result.h>

#include "app/config/config.h"
#include "app/config/listen.h"
#include "app/relays/relays.h"
#include "core/engine.h"
#include "schedule/scheduler.h"
#include "server/listening/inherited_sockets.h"
#include "server/listening/reserved_port.h"
#include "server/session/fronts.h"

namespace tarry::app {

/// What a front is made from. All of it must outlive the front.
struct FrontMaking {
  const config::Config& config;
  const std::optional<ManualClock>& clock;  // of --test-clock
  const Relays& relays;
  const schedule::Scheduler* scheduler;  // null: this server runs no schedules
};

/// One protocol.
struct FrontKind {
  config::Which setting;      // the addresses
  std::string_view protocol;  // as messages call it
  bool needs_rich_store;      // one that has keys, leases and headers
  /// An address as it stands in the ready line.
  std::string (*url)(const Address& address, bool has_tls);
  session::MakeFront (*make)(const FrontMaking& making);
};

/// In the order of the ready line and of the port file: HTTP first.
[[nodiscard]] const std::vector<FrontKind>& front_kinds();

/// Whether the store that the configuration names can serve the fronts that it names, as far as its
/// URL tells. Error: `invalid_argument`.
[[nodiscard]] Result<void> check_front_stores(const config::Config& config);

/// The addresses of all fronts, reserved until the store is open and clients may connect.
class ServeFronts {
 public:
  /// Takes the inherited socket of an address, if there is one. Errors: `invalid_argument` and
  /// `permission_denied` if a setting must change, else another process has a port;
  /// `invalid_argument` if no setting has the address of an inherited socket.
  [[nodiscard]] static Result<ServeFronts> reserve(const config::Config& config,
                                                   listening::InheritedSockets inherited);

  /// Whether the open store can serve them. Error: `invalid_argument`.
  [[nodiscard]] Result<void> check(const core::Capabilities& can) const;

  /// Gives the reserved addresses away; call it once.
  [[nodiscard]] std::vector<session::Listening> listening(const FrontMaking& making);

  /// Those at which another program listened before, for the log.
  [[nodiscard]] const std::vector<std::string>& inherited() const noexcept { return inherited_; }
  /// With the ports that the server has got.
  [[nodiscard]] std::vector<Address> addresses() const;
  [[nodiscard]] std::vector<std::string> urls(bool has_tls) const;

 private:
  using Place = std::variant<listening::ReservedPort, std::string>;
  struct Reserved {
    const FrontKind* kind;
    std::vector<Address> addresses;
    std::vector<Place> places;
  };
  static Result<Reserved> reserve(const FrontKind& kind, const config::Config& config,
                                  listening::InheritedSockets& inherited);
  static Result<Place> reserve(Address& address, listening::InheritedSockets& inherited);

  std::vector<const FrontKind*> asked_for_;
  std::vector<Reserved> fronts_;
  std::vector<std::string> inherited_;
};

}  // namespace tarry::app
