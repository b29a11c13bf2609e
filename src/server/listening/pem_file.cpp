#include "server/listening/pem_file.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/secrets/secret_file.h"
#include "base/text/text.h"

namespace tarry::listening {
namespace {

constexpr std::size_t kLargestPem = std::size_t{1} << 20;

struct FreeBio {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
using Memory = std::unique_ptr<BIO, FreeBio>;

Memory memory_of(const std::string& text) {
  ERR_clear_error();
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Reads the file whole. Otherwise the reason why not.
std::string read_whole(const std::string& path, std::string& text) {
  // A FIFO without a writer would block for ever.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::strerror(errno);
  struct stat status{};
  std::string why;
  if (::fstat(file, &status) == 0 && !S_ISREG(status.st_mode)) why = "it is not a regular file";
  text.resize(why.empty() ? kLargestPem + 1 : 0);
  std::size_t size = 0;
  while (why.empty() && size < text.size()) {
    const ssize_t got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) why = std::strerror(errno);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  text.resize(size);
  if (size > kLargestPem) why = "it is over " + std::to_string(kLargestPem) + " bytes";
  return why;
}

struct Passphrase {
  const std::string* text = nullptr;  // null: there is none
  bool asked = false;
};

int give_passphrase(char* into, int size, int /*writing*/, void* passphrase) {
  auto& given = *static_cast<Passphrase*>(passphrase);
  given.asked = true;
  if (given.text == nullptr || given.text->size() > static_cast<std::size_t>(size)) return -1;
  std::copy(given.text->begin(), given.text->end(), into);
  return static_cast<int>(given.text->size());
}

bool at_end_of_pem() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

std::string openssl_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "OpenSSL gives no reason" : reason;
}

Error PemFile::wrong(std::string_view why) const {
  return {ErrorCode::invalid_argument, name_ + std::string(why)};
}

Result<PemFile> PemFile::read(std::string_view setting, const std::string& path) {
  PemFile file;
  file.name_ = std::string(setting) + " " + base::quoted(path, 256);
  const std::string why = read_whole(path, file.text_);
  if (!why.empty()) return file.wrong(" cannot be read: " + why);
  return file;
}

Result<std::vector<Certificate>> PemFile::certificates() const {
  std::vector<Certificate> found;
  const Memory memory = memory_of(text_);
  for (;;) {
    Certificate next(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
    if (!next) break;
    found.push_back(std::move(next));
  }
  if (!at_end_of_pem()) {
    return wrong(": certificate " + std::to_string(found.size() + 1) +
                 " in it cannot be read: " + openssl_reason());
  }
  ERR_clear_error();
  if (found.empty()) return wrong(" has no certificate in PEM format");
  return found;
}

Result<Key> PemFile::key(const std::string& passphrase_file) const {
  std::optional<std::string> secret;
  if (!passphrase_file.empty()) {
    auto line = base::read_secret("tls.passphrase_file", passphrase_file);
    if (!line) return line.error();
    secret = std::move(*line);
  }
  Passphrase passphrase{secret ? &*secret : nullptr};
  const Memory memory = memory_of(text_);
  Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, give_passphrase, &passphrase));
  if (key) return key;
  if (passphrase.asked && secret) {
    return wrong(": the passphrase in tls.passphrase_file " + base::quoted(passphrase_file, 256) +
                 " is wrong");
  }
  if (passphrase.asked) {
    return wrong(" is encrypted: tls.passphrase_file must name a file with its passphrase");
  }
  // OpenSSL gives the same reason for a key that it cannot read.
  if (text_.find("PRIVATE KEY-----") == std::string::npos) {
    return wrong(" has no private key in PEM format");
  }
  return wrong(": the private key in it cannot be read: " + openssl_reason());
}

}  // namespace tarry::listening
