// A client's socket, over TCP or a unix socket, and what the kernel knows of it.
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

/// Who is at the other end.
struct RemoteEnd {
  std::string name;     // "127.0.0.1"; of a unix socket "user 1000": it has no address
  std::string address;  // the same with its port, "127.0.0.1:40112", "[::1]:40112"
};
[[nodiscard]] RemoteEnd remote_end_of(Socket& socket);

/// Reads and writes never block, and small answers leave at once.
void prepare(Socket& socket);

/// Whether the client sends no more, though bytes may lie unread before its end. A read that is
/// outstanding may not have been told yet what the kernel knows.
[[nodiscard]] bool has_hung_up(Socket& socket);

/// Acknowledges what has come. A client that sends a request in pieces, with Nagle's algorithm on,
/// waits for this before its next piece, and the kernel would keep it back for 40 ms. The kernel
/// forgets that it was told: call it before each read.
void acknowledge(Socket& socket);

}  // namespace tarry::listening
