package io.tarry.internal;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** A connection with TLS 1.2 or 1.3 that checks the server's name. */
final class TlsWire implements Wire {
  private final SocketChannel channel;
  private final SSLSocket socket;

  TlsWire(SSLContext context, String host, int port, long deadline) throws IOException {
    channel = SocketChannel.open();
    try {
      channel.socket().connect(new InetSocketAddress(host, port), millisTo(deadline));
      channel.socket().setTcpNoDelay(true);
      channel.socket().setSoTimeout(millisTo(deadline));
      socket =
          (SSLSocket) context.getSocketFactory().createSocket(channel.socket(), host, port, true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      parameters.setProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
    } catch (IOException | RuntimeException error) {
      channel.close();
      throw error;
    }
  }

  private static int millisTo(long deadline) throws SocketTimeoutException {
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()) + 1;
    if (left <= 0) {
      throw new SocketTimeoutException("it took too long");
    }
    return (int) Math.min(left, Integer.MAX_VALUE);
  }

  @Override
  public void write(byte[] bytes, long deadline) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  @Override
  public int read(byte[] into, int at, long deadline) throws IOException {
    socket.setSoTimeout(millisTo(deadline));
    return socket.getInputStream().read(into, at, into.length - at);
  }

  @Override
  public boolean isIdle() {
    // Nothing may come between two answers but the end of the connection.
    try {
      channel.configureBlocking(false);
      try {
        return channel.read(ByteBuffer.allocate(1)) == 0;
      } finally {
        channel.configureBlocking(true);
      }
    } catch (IOException | RuntimeException error) {
      return false;
    }
  }

  @Override
  public void abort() {
    try {
      channel.shutdownInput();
      channel.shutdownOutput();
    } catch (IOException closed) {
      // It is what was wanted.
    }
  }

  @Override
  public void close() {
    abort();
    try {
      channel.close();
    } catch (IOException closed) {
      // It is what was wanted.
    }
  }
}
