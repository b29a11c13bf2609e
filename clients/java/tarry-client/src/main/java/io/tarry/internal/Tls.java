package io.tarry.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** TLS from PEM files: authorities, and the client's own certificate with its key. */
public final class Tls {
  private final Path ca;
  private final Path certificate;
  private final Path key;
  private final SSLContext given;

  public Tls(Path ca, Path certificate, Path key, SSLContext given) {
    this.ca = ca;
    this.certificate = certificate;
    this.key = key;
    this.given = given;
  }

  boolean isGiven() {
    return ca != null || certificate != null || key != null || given != null;
  }

  /** Throws {@link IllegalArgumentException} that names the file. */
  SSLContext context() {
    if (given != null) {
      return given;
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(), authorities(), null);
      return context;
    } catch (GeneralSecurityException | IOException error) {
      throw new IllegalArgumentException("TLS cannot be set up: " + error.getMessage(), error);
    }
  }

  private TrustManager[] authorities() throws GeneralSecurityException, IOException {
    if (ca == null) {
      return null;
    }
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    int number = 0;
    for (Certificate one : certificates(ca)) {
      store.setCertificateEntry("ca" + number++, one);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private KeyManager[] keys() throws GeneralSecurityException, IOException {
    if (certificate == null && key == null) {
      return null;
    }
    if (certificate == null || key == null) {
      throw new IllegalArgumentException("a client certificate needs both its file and its key");
    }
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    Certificate[] chain = certificates(certificate).toArray(new Certificate[0]);
    store.setKeyEntry("client", privateKey(), new char[0], chain);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, new char[0]);
    return factory.getKeyManagers();
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException {
    try (InputStream in = Files.newInputStream(file)) {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (all.isEmpty()) {
        throw new IllegalArgumentException(file + " has no certificate");
      }
      return all;
    } catch (IOException error) {
      throw new IllegalArgumentException("the file " + file + " cannot be read", error);
    }
  }

  private PrivateKey privateKey() throws GeneralSecurityException, IOException {
    String pem = Files.readString(key, StandardCharsets.US_ASCII);
    String begin = "-----BEGIN PRIVATE KEY-----";
    int from = pem.indexOf(begin);
    int to = pem.indexOf("-----END PRIVATE KEY-----");
    if (from < 0 || to < from) {
      throw new IllegalArgumentException(
          key + " must be PKCS#8 without a passphrase; openssl pkcs8 -topk8 -nocrypt makes it so");
    }
    byte[] bytes = Base64.getMimeDecoder().decode(pem.substring(from + begin.length(), to));
    GeneralSecurityException last = null;
    for (String kind : new String[] {"EC", "RSA", "Ed25519"}) {
      try {
        return KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(bytes));
      } catch (GeneralSecurityException other) {
        last = other;
      }
    }
    throw last;
  }
}
