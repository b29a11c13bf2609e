// A client's socket, over TCP or a unix socket, and the kernel's facts about it.
//
// Thread safety: that of a socket: one thread at a time.
#pragma once

#include <string>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

namespace tarry::listening {

using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;

/// The client's end of the connection.
struct RemoteEnd {
  // Whom limits treat as one client: "127.0.0.1", "2001:db8::/64" (ip_address.h); for a unix socket
  // "user 1000", because it has no address.
  std::string peer;
  std::string address;  // with its port, "127.0.0.1:40112", "[::1]:40112"; or "user 1000"
};
[[nodiscard]] RemoteEnd remote_end_of(Socket& socket);

/// The address of this machine that the client has connected to, as it stands in a URL:
/// "192.0.2.7", "[2001:db8::1]"; empty for a unix socket.
[[nodiscard]] std::string local_host_of(Socket& socket);

/// Sets the socket's options: reads and writes never block, and small answers are sent at once.
void prepare(Socket& socket);

/// Whether the client has ended its side, as the kernel knows. Unread bytes may still come before
/// that end, and an outstanding read may not have reported it yet.
[[nodiscard]] bool has_hung_up(Socket& socket);

/// Has the kernel acknowledge the bytes that have arrived at once. A client that sends a request in
/// pieces with Nagle's algorithm waits for the acknowledgement before its next piece, and the
/// kernel would delay it by 40 ms. The kernel forgets the setting, so call this before each read.
void acknowledge(Socket& socket);

}  // namespace tarry::listening
