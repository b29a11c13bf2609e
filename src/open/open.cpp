// tarry::open with every engine: the composition root of tarry::tarry.
#include <utility>

#include <tarry/store.h>

#include "engines/remote/remote_engine.h"
#include "open/open_with.h"

namespace tarry {

Result<Store> open(std::string_view url, OpenOptions options) {
  return detail::open_with(url, std::move(options), [](const detail::RemoteUrl& remote) {
    remote::RemoteOptions wanted;
    wanted.host = remote.host;
    wanted.port = remote.port;
    return remote::open_remote(std::move(wanted));
  });
}

}  // namespace tarry
