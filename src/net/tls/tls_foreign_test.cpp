#include "net/tls/tls_foreign.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <string>

namespace tarry::net {
namespace {

TEST(TlsForeign, OnlyOurOwnOpensslIsKnown) {
  const std::string version = OpenSSL_version(OPENSSL_FULL_VERSION_STRING);
  EXPECT_TRUE(TlsWatch::knows("OpenSSL/" + version));
  for (const char* other : {"", "OpenSSL/", "OpenSSL/1.1.1w", "GnuTLS/3.7.9", "LibreSSL/3.8.2"}) {
    EXPECT_FALSE(TlsWatch::knows(other)) << other;
  }
}

TEST(TlsForeign, AWatchOutlivesItsContext) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  ASSERT_NE(context, nullptr);
  const auto watch = TlsWatch::begin(context);
  SSL_CTX_free(context);
  EXPECT_EQ(watch->refusal(""), std::nullopt);
  EXPECT_EQ(watch.use_count(), 1);
}

TEST(TlsForeign, FilesAreCheckedWithoutAConnection) {
  EXPECT_TRUE(check_tls_files({}));
  const auto missing = check_tls_files({.ca_file = "/no/such"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "the CA file \"/no/such\" cannot be read: No such file or directory");
}

}  // namespace
}  // namespace tarry::net
