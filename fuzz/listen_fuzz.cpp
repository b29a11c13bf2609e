// A server's addresses and names, as people write them: what is read is read again from what is
// shown; what is refused is named in one line.
#include <cstddef>
#include <cstdint>
#include <string>

#include "app/config/listen.h"
#include "base/assert.h"
#include "base/text/text.h"
#include "fuzz/input.h"
#include "server/listening/ip_address.h"

namespace tarry::fuzz {
namespace {

void check_error(const Error& error) {
  TARRY_ASSERT(error.code == ErrorCode::invalid_argument && !error.message.empty());
  TARRY_ASSERT(error.message.find('\n') == std::string::npos);
  TARRY_ASSERT(base::is_valid_utf8(error.message));
}

void check_address(const app::Address& address) {
  TARRY_ASSERT(address.is_unix() == address.host.empty());
  TARRY_ASSERT(address.is_unix() || listening::parse_listen_address(address.host));
  TARRY_ASSERT(address.url(false).starts_with(address.is_unix() ? "http+unix://" : "http://"));
  // A path may have a comma, which ends an item of the list.
  if (address.path.find(',') != std::string::npos || address.path.ends_with(' ')) return;
  const auto again = app::parse_listen(address.text());
  TARRY_ASSERT(again && again->size() == 1);
  TARRY_ASSERT(again->front().host == address.host && again->front().port == address.port);
  TARRY_ASSERT(again->front().path == address.path);
}

void check_listen(std::string_view text) {
  const auto addresses = app::parse_listen(text);
  if (!addresses) return check_error(addresses.error());
  TARRY_ASSERT(!addresses->empty());
  for (const app::Address& address : *addresses) check_address(address);
  // Each address but those with port 0 may stand there once.
  const app::Address& last = addresses->back();
  if (last.is_unix() || last.port != 0) {
    TARRY_ASSERT(!app::parse_listen(std::string(text) + "," + last.text()));
  }
}

void check_names(std::string_view text) {
  const auto names = app::parse_names(text);
  if (!names) return check_error(names.error());
  std::string written;
  for (const std::string& name : *names) {
    TARRY_ASSERT(!name.empty());
    written += (written.empty() ? "" : ",") + name;
  }
  const auto again = app::parse_names(written);
  TARRY_ASSERT(again && *again == *names);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tarry::fuzz::Input input(data, size);
  tarry::fuzz::check_listen(input.rest());
  tarry::fuzz::check_names(input.rest());
  return 0;
}
