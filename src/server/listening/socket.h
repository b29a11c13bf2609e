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

/// The other end.
struct RemoteEnd {
  std::string name;     // "127.0.0.1"; of a unix socket "user 1000": it has no address
  std::string address;  // the same with its port, "127.0.0.1:40112", "[::1]:40112"
};
[[nodiscard]] RemoteEnd remote_end_of(Socket& socket);

/// Reads and writes never block, and small answers leave at once.
void prepare(Socket& socket);

/// Whether the client sends no more, although unread bytes may come before its end. An outstanding
/// read may not have been told yet, although the kernel knows.
[[nodiscard]] bool has_hung_up(Socket& socket);

/// Acknowledges the bytes that have arrived. A client that sends a request in pieces, with Nagle's
/// algorithm on, waits for this before its next piece, and the kernel would delay it by 40 ms. The
/// kernel forgets this setting: call it before each read.
void acknowledge(Socket& socket);

}  // namespace tarry::listening
