#include "net/tls/tls_words.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "base/text/text.h"

namespace tarry::net {
namespace {

constexpr std::size_t kMostNames = 5;  // of a certificate that has many
constexpr std::size_t kMostOfName = 256;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

std::string_view bytes_of(const ASN1_STRING* text) {
  const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
  return {data, static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* address) {
  const std::string_view bytes = bytes_of(address);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  if (family == AF_INET6 && bytes.size() != sizeof(in6_addr)) return {};
  return ::inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr ? "" : text.data();
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at >= 0) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    return base::quoted(bytes_of(text), kMostOfName);
  }
  std::array<char, kMostOfName> line{};
  X509_NAME_oneline(name, line.data(), static_cast<int>(line.size()));
  return base::quoted(line.data(), kMostOfName);
}

// Names and addresses that the certificate is for.
std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> found;
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      found.push_back(base::quoted(bytes_of(name->d.dNSName), kMostOfName));
    } else if (name->type == GEN_IPADD) {
      found.push_back(base::quoted(address_of(name->d.iPAddress)));
    }
  }
  // Without such names, OpenSSL goes by the subject's name.
  if (found.empty()) found.push_back(common_name(X509_get_subject_name(certificate)));
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNames) {
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
  return text;
}

std::string time_words(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
  return base::format_time_ms(std::int64_t{::timegm(&parts)} * 1'000);
}

std::string now_words() { return base::format_time_ms(std::int64_t{std::time(nullptr)} * 1'000); }

std::string unknown_authority(const std::string& authority, const TlsOptions& options) {
  if (options.ca_file.empty()) {
    return "its certificate is not trusted: its authority " + authority +
           " is not one of this system's; name the authority's file with ca=FILE";
  }
  return "its certificate is not trusted: its authority " + authority + " is not in the CA file " +
         base::quoted(options.ca_file, kMostOfName);
}

Error demanded() {
  return {ErrorCode::permission_denied,
          "the server demands a client's certificate: give it with cert=FILE and key=FILE"};
}

// The number of the alert that the server sent, or 0.
int alert_of(int code) noexcept {
  const auto packed = static_cast<unsigned long>(code);
  const int reason = ERR_GET_REASON(packed);
  const bool is_alert = ERR_GET_LIB(packed) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET;
  return is_alert ? reason - SSL_AD_REASON_OFFSET : 0;
}

std::string openssl_words(int code) {
  const char* reason = ERR_reason_error_string(static_cast<unsigned long>(code));
  return reason == nullptr ? "OpenSSL gives no reason" : reason;
}

}  // namespace

Error certificate_error(X509_STORE_CTX& check, const TlsTrust& trust) {
  const int verdict = X509_STORE_CTX_get_error(&check);
  X509* const current = X509_STORE_CTX_get_current_cert(&check);
  const bool is_servers = X509_STORE_CTX_get_error_depth(&check) == 0;
  const std::string whose =
      is_servers || current == nullptr
          ? "its certificate"
          : "the certificate of its authority " + common_name(X509_get_subject_name(current));
  const auto invalid = [](std::string why) {
    return Error{ErrorCode::invalid_argument, std::move(why)};
  };
  switch (current == nullptr ? X509_V_ERR_UNSPECIFIED : verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return invalid("its certificate is for " + listed(names_of(current)) + ", not for " +
                     base::quoted(trust.name(), kMostOfName));
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {ErrorCode::unavailable,
              whose + " expired at " + time_words(X509_get0_notAfter(current))};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {ErrorCode::unavailable, whose + " is valid only from " +
                                          time_words(X509_get0_notBefore(current)) +
                                          " on, and this machine's clock says " + now_words()};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return invalid(
          unknown_authority(common_name(X509_get_issuer_name(current)), trust.options()));
    case X509_V_ERR_INVALID_PURPOSE: return invalid(whose + " is not for a server");
    default:
      return invalid("its certificate is not trusted: " +
                     std::string(X509_verify_cert_error_string(verdict)));
  }
}

std::optional<Error> refused_certificate(int code, bool asked, const std::string& given) {
  const int alert = alert_of(code);
  if (alert == TLS13_AD_CERTIFICATE_REQUIRED) return demanded();
  if (!asked) return std::nullopt;
  std::string why;
  switch (alert) {
    case SSL_AD_HANDSHAKE_FAILURE:  // servers with TLS 1.2 say no more than this
      return given.empty() ? std::optional(demanded()) : std::nullopt;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_ACCESS_DENIED: why = "it does not say why"; break;
    case SSL_AD_UNSUPPORTED_CERTIFICATE: why = "it is not for a client"; break;
    case SSL_AD_CERTIFICATE_REVOKED: why = "it is revoked"; break;
    case SSL_AD_CERTIFICATE_EXPIRED: why = "it has expired"; break;
    case SSL_AD_UNKNOWN_CA: why = "its authority is unknown to the server"; break;
    default: return std::nullopt;
  }
  if (given.empty()) return demanded();
  return Error{ErrorCode::permission_denied, "the server refuses the client's certificate " +
                                                 base::quoted(given, kMostOfName) + ": " + why};
}

bool is_no_tls(int code) noexcept {
  const auto packed = static_cast<unsigned long>(code);
  if (ERR_GET_LIB(packed) != ERR_LIB_SSL) return false;
  switch (ERR_GET_REASON(packed)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_BAD_RECORD_TYPE: return true;
    default: return false;
  }
}

std::string handshake_words(int code, const std::string& name) {
  if (is_no_tls(code)) return "the server does not speak TLS";
  switch (alert_of(code)) {
    case 0: break;
    case SSL_AD_PROTOCOL_VERSION: return "the server speaks neither TLS 1.2 nor TLS 1.3";
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_INSUFFICIENT_SECURITY:
      return "the server has no cipher or kind of key that this client accepts";
    case SSL_AD_UNRECOGNIZED_NAME:
      return "the server does not know the name " + base::quoted(name, kMostOfName);
    default:
      return "the server ended the handshake with the alert " +
             std::string(SSL_alert_desc_string_long(alert_of(code)));
  }
  if (ERR_GET_REASON(static_cast<unsigned long>(code)) == SSL_R_UNSUPPORTED_PROTOCOL) {
    return "the server speaks neither TLS 1.2 nor TLS 1.3";
  }
  return "the handshake failed: " + openssl_words(code);
}

}  // namespace tarry::net
