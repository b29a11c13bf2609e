// A test's own certificates, in a new directory: an authority ("ca"), a server and a client that it
// has signed ("server", "client"), and an authority that has signed nothing ("other-ca"). The
// server's is for localhost, redis.example and 127.0.0.1.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tarry::testing {

class Certificates {
 public:
  Certificates() {
    std::string path = (std::filesystem::temp_directory_path() / "tarry-tls-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp " + path);
    directory_ = path;
    const std::string signed_by_ca = "-CA ca.pem -CAkey ca.key -addext basicConstraints=CA:FALSE ";
    try {
      make("ca", "/CN=tarry's test CA", "");
      make("other-ca", "/CN=another CA", "");
      make("server", "/CN=server",
           signed_by_ca + "-addext subjectAltName=DNS:localhost,DNS:redis.example,IP:127.0.0.1");
      make("client", "/CN=client", signed_by_ca);
    } catch (...) {
      remove_directory();
      throw;
    }
  }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;
  ~Certificates() { remove_directory(); }

  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string certificate(const std::string& name) const {
    return directory_ + "/" + name + ".pem";
  }
  [[nodiscard]] std::string key(const std::string& name) const {
    return directory_ + "/" + name + ".key";
  }

 private:
  void make(const std::string& name, const std::string& subject, const std::string& more) const {
    const std::string command =
        "cd '" + directory_ +
        "' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2" +
        " -keyout " + name + ".key -out " + name + ".pem -subj \"" + subject + "\" " + more +
        " >openssl.log 2>&1";
    if (std::system(command.c_str()) == 0) return;
    std::ifstream log(directory_ + "/openssl.log");
    throw std::runtime_error("no certificate " + name + ": " +
                             std::string(std::istreambuf_iterator<char>(log), {}));
  }
  void remove_directory() const {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
};

}  // namespace tarry::testing
