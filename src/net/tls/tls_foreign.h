// For TLS connections that another library makes with OpenSSL: the same checks of files, and the
// same words, as for our own.
//
// Thread safety: none; a TlsWatch belongs to the thread that works on its connections.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "net/tls/tls_options.h"

namespace tarry::net {

/// Whether a client can use the files. Error: `invalid_argument`, which names the file and says why
/// it cannot be used.
[[nodiscard]] Result<void> check_tls_files(const TlsOptions& options);

/// Notes whether a server demands or refuses the client's certificate. With TLS 1.3 the client
/// learns of it only after its request, which the server then has not read.
class TlsWatch {
 public:
  /// Whether `library` ("OpenSSL/3.0.11") is the OpenSSL of this program.
  [[nodiscard]] static bool knows(std::string_view library);
  /// Watches connections of `context`, an SSL_CTX of that OpenSSL, until the context ends.
  [[nodiscard]] static std::shared_ptr<TlsWatch> begin(void* context);

  /// Call it before a request is sent. It makes OpenSSL read what the server has sent after the
  /// handshake, as a refusal; bytes of an answer stay. If the server has closed the connection, a
  /// failing write could hide the refusal. `ssl`: an SSL of the watched context.
  static void look(void* ssl);

  /// What happened, if the server refused the client's certificate, `given` (a file; may be empty),
  /// or demands one. It has then read no byte of a request.
  [[nodiscard]] std::optional<std::string> refusal(const std::string& given) const;

 private:
  struct Hooks;

  bool asked_ = false;
  int alert_ = 0;  // the fatal alert that the server sent, or 0
};

}  // namespace tarry::net
