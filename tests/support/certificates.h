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
    try {
      make("ca", "/CN=tarry's test CA", "");
      make("other-ca", "/CN=another CA", "");
      add_server("server", "DNS:localhost,DNS:redis.example,IP:127.0.0.1");
      make("client", "/CN=client", kSigned);
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
  /// Makes a server's certificate for these names ("DNS:localhost,IP:127.0.0.1"), signed by "ca".
  void add_server(const std::string& name, const std::string& names) const {
    make(name, "/CN=" + name, kSigned + ("-addext subjectAltName=" + names));
  }
  /// The same, valid between two times ("20210101000000Z").
  void add_server(const std::string& name, const std::string& names, const std::string& from,
                  const std::string& until) const {
    std::ofstream(directory_ + "/ca.cnf")
        << "[ca_section]\ndatabase=ca.index\nnew_certs_dir=.\nserial=ca.serial\ndefault_md=sha256\n"
           "policy=policy_section\ncopy_extensions=copy\n[policy_section]\ncommonName=supplied\n";
    std::ofstream(directory_ + "/ca.index").close();
    run(name, kNewKey + (" -keyout " + name + ".key -out " + name + ".csr -subj /CN=" + name) +
                  " -addext subjectAltName=" + names + " -addext basicConstraints=CA:FALSE");
    run(name,
        "ca -batch -config ca.cnf -name ca_section -rand_serial -cert ca.pem -keyfile ca.key"
        " -startdate " +
            from + " -enddate " + until + " -in " + name + ".csr -notext -out " + name + ".pem");
  }

 private:
  static constexpr const char* kNewKey =
      "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  static constexpr const char* kSigned =
      "-CA ca.pem -CAkey ca.key -addext basicConstraints=CA:FALSE ";

  void make(const std::string& name, const std::string& subject, const std::string& more) const {
    run(name, kNewKey + (" -x509 -days 2 -keyout " + name + ".key -out " + name + ".pem -subj \"" +
                         subject + "\" " + more));
  }
  void run(const std::string& name, const std::string& words) const {
    const std::string command =
        "cd '" + directory_ + "' && openssl " + words + " >openssl.log 2>&1";
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
