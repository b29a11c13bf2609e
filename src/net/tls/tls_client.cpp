#include "net/tls/tls_client.h"

#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include "net/tls/tls_stream.h"
#include "net/tls/tls_trust.h"

namespace tarry::net {
namespace {

// The text is another one after the file was written or replaced.
std::string state_of(const std::string& path) {
  struct stat status{};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return "-;";
  std::string text;
  for (const auto number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(status.st_ctim.tv_sec),
        static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
    text += std::to_string(number) + " ";
  }
  return text + ";";
}

// Where OpenSSL looks for the system's authorities.
std::string system_path(const char* variable, const char* otherwise) {
  const char* chosen = std::getenv(variable);
  return chosen != nullptr ? chosen : otherwise;
}

}  // namespace

TlsClient::TlsClient(TlsOptions options, const std::string& host)
    : options_(std::move(options)),
      name_(options_.server_name.empty() ? host : options_.server_name) {}

std::string TlsClient::state_of_files() const {
  const std::string authorities =
      options_.ca_file.empty()
          ? state_of(system_path(X509_get_default_cert_file_env(), X509_get_default_cert_file())) +
                state_of(system_path(X509_get_default_cert_dir_env(), X509_get_default_cert_dir()))
          : state_of(options_.ca_file);
  return authorities + state_of(options_.certificate_file) + state_of(options_.key_file);
}

Result<std::unique_ptr<TlsStream>> TlsClient::stream(Socket& socket) {
  std::string files = state_of_files();
  if (!trust_ || files != files_) {
    auto trust = TlsTrust::load(options_, name_);
    if (!trust) return std::move(trust).error();
    trust_ = *std::move(trust);
    files_ = std::move(files);
  }
  return TlsStream::make(socket, trust_);
}

}  // namespace tarry::net
