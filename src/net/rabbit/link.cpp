#include "net/rabbit/link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <utility>

#include "base/text/text.h"
#include "net/rabbit/library.h"

namespace tarry::net::rabbit {
namespace {

constexpr int kFrameMax = 131'072;
constexpr std::size_t kFrameOverhead = 7 + 1;           // head and end
constexpr std::size_t kPropertiesOverhead = 2 + 2 + 8;  // class, weight and the body's size
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

timeval time_value(std::int64_t ms) {
  return {static_cast<time_t>(ms / 1'000), static_cast<suseconds_t>(ms % 1'000 * 1'000)};
}

amqp_table_entry_t flag_entry(std::string_view name) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

amqp_table_entry_t table_entry(std::string_view name, amqp_table_t entries) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_TABLE;
  entry.value.value.table = entries;
  return entry;
}

ErrorCode code_of(std::uint16_t reply_code) {
  switch (reply_code) {
    case AMQP_ACCESS_REFUSED:
    case AMQP_NOT_ALLOWED: return ErrorCode::permission_denied;
    case AMQP_NOT_FOUND: return ErrorCode::not_found;
    case AMQP_PRECONDITION_FAILED:
    case AMQP_RESOURCE_LOCKED: return ErrorCode::conflict;
    default: return ErrorCode::unavailable;
  }
}

}  // namespace

amqp_bytes_t amqp_view(std::string_view text) noexcept {
  return {text.size(), const_cast<char*>(text.data())};
}

std::string_view view_of(amqp_bytes_t bytes) noexcept {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

std::string in_one_line(amqp_bytes_t bytes) {
  std::string text = base::quoted(view_of(bytes), 200);
  return text.substr(1, text.size() - 2);
}

amqp_table_entry_t text_entry(std::string_view name, std::string_view value) noexcept {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_view(value);
  return entry;
}

amqp_table_entry_t number_entry(std::string_view name, std::int64_t value) noexcept {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_I64;
  entry.value.value.i64 = value;
  return entry;
}

RabbitLink::RabbitLink(const RabbitAddress& address)
    : title_("rabbitmq " + address.host + ":" + std::to_string(address.port)),
      state_(amqp_new_connection()) {}
RabbitLink::~RabbitLink() { amqp_destroy_connection(state_); }

Result<void> RabbitLink::open(const RabbitAddress& address) {
  amqp_socket_t* socket = nullptr;
  if (address.tls) {
    auto made = tls_socket(*address.tls);
    if (!made) return made.error();
    socket = *made;
  } else {
    socket = amqp_tcp_socket_new(state_);
  }
  if (socket == nullptr) return failure("out of memory");
  timeval patience = time_value(address.connect_timeout_ms);
  amqp_set_handshake_timeout(state_, &patience);
  timeval rpc_patience = time_value(address.confirm_timeout_ms);
  amqp_set_rpc_timeout(state_, &rpc_patience);
  if (const int status =
          amqp_socket_open_noblock(socket, address.host.c_str(), address.port, &patience);
      status != AMQP_STATUS_OK) {
    // The library's own text does not say that the port is closed.
    return status == AMQP_STATUS_SOCKET_ERROR ? failure("cannot connect: nothing answers there")
                                              : failure(status);
  }
  limit_sending(address.confirm_timeout_ms);
  // Without "connection.blocked", a broker that runs short of memory or disk stops reading and does
  // not say so. Without "consumer_cancel_notify", a consumer does not learn that its queue is gone.
  std::array<amqp_table_entry_t, 2> can{flag_entry("connection.blocked"),
                                        flag_entry("consumer_cancel_notify")};
  amqp_table_entry_t capabilities =
      table_entry("capabilities", {static_cast<int>(can.size()), can.data()});
  const amqp_table_t properties{1, &capabilities};
  const auto login = amqp_login_with_properties(
      state_, address.vhost.c_str(), 0, kFrameMax, address.heartbeat_s, &properties,
      AMQP_SASL_METHOD_PLAIN, address.user.c_str(), address.password.c_str());
  if (login.reply_type == AMQP_RESPONSE_NORMAL) return {};
  return answered_with(login);
}

Result<void> RabbitLink::open_channel(std::uint16_t channel, bool confirms) {
  amqp_channel_open(state_, channel);
  auto opened = answered();
  if (!opened || !confirms) return opened;
  amqp_confirm_select(state_, channel);
  return answered();
}

Result<void> RabbitLink::answered() const { return answered_with(amqp_get_rpc_reply(state_)); }

Result<void> RabbitLink::answered_with(const amqp_rpc_reply_t& reply) const {
  switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL: return {};
    case AMQP_RESPONSE_LIBRARY_EXCEPTION: return failure(reply.library_error);
    case AMQP_RESPONSE_SERVER_EXCEPTION:
      if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* closed = static_cast<const amqp_connection_close_t*>(reply.reply.decoded);
        return Error{code_of(closed->reply_code), failure(in_one_line(closed->reply_text)).message};
      }
      if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* closed = static_cast<const amqp_channel_close_t*>(reply.reply.decoded);
        return Error{code_of(closed->reply_code), failure(in_one_line(closed->reply_text)).message};
      }
      break;
    case AMQP_RESPONSE_NONE: break;
  }
  return failure("no answer");
}

Error RabbitLink::failure(const std::string& reason) const {
  return {ErrorCode::unavailable, title_ + ": " + reason};
}
Error RabbitLink::failure(int status) const { return failure(amqp_error_string2(status)); }

Result<bool> RabbitLink::next(amqp_frame_t& frame) {
  amqp_maybe_release_buffers(state_);
  timeval now{};
  const int status = amqp_simple_wait_frame_noblock(state_, &frame, &now);
  if (status == AMQP_STATUS_TIMEOUT) return false;
  if (status != AMQP_STATUS_OK) return failure(status);
  return true;
}

void RabbitLink::say_goodbye(std::chrono::milliseconds patience) {
  const timeval most = time_value(patience.count());
  amqp_set_rpc_timeout(state_, &most);
  static_cast<void>(amqp_connection_close(state_, AMQP_REPLY_SUCCESS));
}

int RabbitLink::socket() const noexcept { return amqp_get_sockfd(state_); }

std::size_t RabbitLink::properties_room() const noexcept {
  return static_cast<std::size_t>(amqp_get_frame_max(state_)) - kFrameOverhead -
         kPropertiesOverhead;
}

Result<amqp_socket_t*> RabbitLink::tls_socket(const RabbitTls& tls) {
  amqp_socket_t* socket = amqp_ssl_socket_new(state_);
  if (socket == nullptr) return failure("TLS cannot be set up");
  const std::string& ca = tls.ca_file;
  const char* authorities = ca.empty() ? kSystemAuthorities : ca.c_str();
  if (amqp_ssl_socket_set_cacert(socket, authorities) != AMQP_STATUS_OK) {
    return failure("certificates of authorities cannot be read from " + base::quoted(authorities));
  }
  if (!tls.certificate_file.empty() &&
      amqp_ssl_socket_set_key(socket, tls.certificate_file.c_str(), tls.key_file.c_str()) !=
          AMQP_STATUS_OK) {
    return failure("certificate " + base::quoted(tls.certificate_file) + " and key " +
                   base::quoted(tls.key_file) + " cannot be used");
  }
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  return socket;
}

/// A broker that stops reading must not block a publish for ever.
void RabbitLink::limit_sending(std::int64_t ms) const {
  const auto timeout = static_cast<unsigned>(ms);
  ::setsockopt(socket(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
}

}  // namespace tarry::net::rabbit
