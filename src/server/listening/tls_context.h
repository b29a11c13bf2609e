// The server's side of TLS: its certificate, its key and its rules, read from PEM files.
//
// TLS 1.2 and 1.3 only; ciphers with forward secrecy and authenticated encryption only; neither
// renegotiation nor compression. Clients may resume sessions by tickets, so that the server keeps
// nothing for them.
//
// Thread safety: pure, except for reading the files. A context may be used by any thread.
#pragma once

#include <memory>
#include <string>

#include <tarry/result.h>

struct ssl_ctx_st;

namespace tarry::listening {

/// Null means: no TLS.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

struct TlsFiles {
  std::string certificate;           // the server's certificate, then those of its issuers
  std::string key = {};              // empty: it is in the certificate's file
  std::string passphrase_file = {};  // of the key; empty: the key is not encrypted
  std::string client_ca = {};  // if not empty, clients need a certificate of these authorities
};

struct Tls {
  TlsContext context;
  std::string digest;       // of the contents of all files
  std::string subject;      // of the certificate: "CN=queue.example"
  std::string valid_until;  // RFC 3339
};

/// Reads the files and checks that clients can accept them: the key matches the certificate, every
/// certificate is valid now, and the chain of issuers is complete. It is complete if it ends with a
/// self-signed certificate, or with one whose issuer is among the system's authorities. Error:
/// `invalid_argument`: one line that names the setting and the file.
[[nodiscard]] Result<Tls> load_tls(const TlsFiles& files);

}  // namespace tarry::listening
