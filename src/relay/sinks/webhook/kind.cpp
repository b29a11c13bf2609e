#include "relay/sinks/webhook/kind.h"

#ifdef TARRY_WITH_WEBHOOK
#include "relay/sinks/webhook/webhook_library.h"
#include "relay/sinks/webhook/webhook_url.h"
#endif

namespace tarry::relay {

SinkKind webhook_kind() {
  SinkKind kind{.name = "webhook",
                .schemes = {"http", "https"},
                .forms = {"http://", "https://"},
                .help = "https://HOST/PATH[#secret_file=FILE&...], a webhook",
                .absent = "this build knows no webhooks",
                .hides_target = true};
#ifdef TARRY_WITH_WEBHOOK
  kind.library = &kCurlLibrary;
  kind.make = [](const SinkWish& wish) { return make_webhook_sink(wish.to); };
#endif
  return kind;
}

}  // namespace tarry::relay
