// TlsClient: opens TLS connections (OpenSSL, 1.2 or later) to one server, and checks the server's
// certificate and name. Connections after the first resume its session if the server agrees.
//
// The files may be replaced at any time: the next connection uses the new ones, and then shakes
// hands in full.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "net/tls/tls_options.h"

namespace tarry::net {

class TlsStream;
class TlsTrust;

class TlsClient {
 public:
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                  boost::asio::io_context::executor_type>;

  /// `host`: the server's name or address, which its certificate must have unless the options name
  /// another one.
  TlsClient(TlsOptions options, const std::string& host);

  /// A stream over `socket`, which must be connected and outlive the stream. The stream may outlive
  /// this object. Error: `invalid_argument` for a file or a name that cannot be used.
  [[nodiscard]] Result<std::unique_ptr<TlsStream>> stream(Socket& socket);

 private:
  [[nodiscard]] std::string state_of_files() const;

  const TlsOptions options_;
  const std::string name_;
  std::string files_;  // their state when trust_ was made
  std::shared_ptr<TlsTrust> trust_;
};

}  // namespace tarry::net
