#include "open/rabbit_url.h"

#ifdef TARRY_WITH_RABBITMQ

#include <array>
#include <utility>

#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "core/limits.h"
#include "engines/rabbitmq/rabbitmq_engine.h"
#include "net/rabbit/library.h"
#include "net/rabbit/rabbit_url.h"

namespace tarry::detail {
namespace {

using net::RabbitTls;
using rabbitmq::Ladder;

struct RabbitStore : net::RabbitAddress {
  std::int64_t rung_ms = Ladder::kDefaultBaseMs;
  rabbitmq::Queues queues = rabbitmq::Queues::automatic;
  core::Limits limits = {};
};

Result<void> set_rung(std::string_view value, RabbitStore& store) {
  const auto ms = base::parse_duration_ms(value);
  if (!ms) return base::invalid_url("option rung: " + ms.error().message);
  if (*ms < 1 || *ms > Ladder::kMostBaseMs) {
    return base::invalid_url("option rung: " + base::quoted(value) + " must be from 1ms to 10s");
  }
  store.rung_ms = *ms;
  return {};
}

Result<void> set_queues(std::string_view value, RabbitStore& store) {
  if (value == "auto") {
    store.queues = rabbitmq::Queues::automatic;
  } else if (value == "quorum") {
    store.queues = rabbitmq::Queues::quorum;
  } else if (value == "classic") {
    store.queues = rabbitmq::Queues::classic;
  } else {
    return base::choice_error("queues", value, "auto, quorum or classic");
  }
  return {};
}

Result<void> set_largest(std::string_view value, RabbitStore& store) {
  const auto size =
      base::size_option("max_payload", value, 1, core::kMaxMaxPayload, "from 1B to 64MiB");
  if (!size) return size.error();
  store.limits.max_payload = *size;
  return {};
}

using RabbitOption = base::UrlOption<RabbitStore>;
constexpr std::array kRabbitOptions = {
    RabbitOption{"rung", set_rung},
    RabbitOption{"queues", set_queues},
    RabbitOption{"max_payload", set_largest},
    RabbitOption{"heartbeat", net::rabbit::set_heartbeat<RabbitStore>},
    RabbitOption{"password_file", net::rabbit::set_password_file<RabbitStore>},
    RabbitOption{"ca", net::rabbit::set_tls<RabbitStore, &RabbitTls::ca_file>},
    RabbitOption{"cert", net::rabbit::set_tls<RabbitStore, &RabbitTls::certificate_file>},
    RabbitOption{"key", net::rabbit::set_tls<RabbitStore, &RabbitTls::key_file>},
};

}  // namespace

EngineResult open_rabbitmq(const RabbitUrl& url, const OpenOptions& options) {
  auto store = net::rabbit::read_url<RabbitStore>(url.scheme, url.rest, kRabbitOptions);
  if (!store) return std::move(store).error();
  if (const auto loaded = base::load(net::kRabbitLibrary); !loaded) {
    return Error{loaded.error().code, url.scheme + ": " + loaded.error().message};
  }
  rabbitmq::RabbitEngineOptions wanted;
  wanted.address = *store;
  wanted.rung_ms = store->rung_ms;
  wanted.queues = store->queues;
  wanted.limits = store->limits;
  wanted.log = options.log;
  return rabbitmq::open_rabbitmq(std::move(wanted));
}

}  // namespace tarry::detail

#else

namespace tarry::detail {

EngineResult open_rabbitmq(const RabbitUrl& url, const OpenOptions&) {
  return Error{ErrorCode::unsupported,
               url.scheme + ": is not built in: this program was built without rabbitmq-c"};
}

}  // namespace tarry::detail

#endif
