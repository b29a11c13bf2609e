// What a TLS client knows of its server and shows to it. Plain values.
#pragma once

#include <string>

namespace tarry::net {

struct TlsOptions {
  std::string ca_file = {};           // PEM; empty: the system's authorities
  std::string certificate_file = {};  // PEM, for servers that require one; empty: none
  std::string key_file = {};          // PEM; empty: the key is in the certificate file
  std::string server_name = {};       // checked, and sent as SNI; empty: the host is used
};

}  // namespace tarry::net
