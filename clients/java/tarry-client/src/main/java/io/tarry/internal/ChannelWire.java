package io.tarry.internal;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A TCP connection or a unix socket, without TLS. */
final class ChannelWire implements Wire {
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;

  private ChannelWire(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
    selector = Selector.open();
    key = channel.register(selector, 0);
  }

  static ChannelWire tcp(SocketAddress address, long deadline) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      return connected(channel, address, deadline);
    } catch (IOException | RuntimeException error) {
      channel.close();
      throw error;
    }
  }

  /** Needs Java 16 or later. */
  static ChannelWire unix(String path, long deadline) throws IOException {
    SocketChannel channel;
    SocketAddress address;
    try {
      ProtocolFamily unix = StandardProtocolFamily.valueOf("UNIX");
      address =
          (SocketAddress)
              Class.forName("java.net.UnixDomainSocketAddress")
                  .getMethod("of", Path.class)
                  .invoke(null, Path.of(path));
      channel =
          (SocketChannel)
              SocketChannel.class.getMethod("open", ProtocolFamily.class).invoke(null, unix);
    } catch (ReflectiveOperationException | IllegalArgumentException error) {
      throw new IOException("unix sockets need Java 16 or later", error);
    }
    try {
      return connected(channel, address, deadline);
    } catch (IOException | RuntimeException error) {
      channel.close();
      throw error;
    }
  }

  private static ChannelWire connected(SocketChannel channel, SocketAddress address, long deadline)
      throws IOException {
    ChannelWire wire = new ChannelWire(channel);
    try {
      if (!channel.connect(address)) {
        do {
          wire.await(SelectionKey.OP_CONNECT, deadline);
        } while (!channel.finishConnect());
      }
      return wire;
    } catch (IOException | RuntimeException error) {
      wire.close();
      throw error;
    }
  }

  private void await(int operation, long deadline) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()) + 1;
    if (left <= 0) {
      throw new SocketTimeoutException("it took too long");
    }
    key.interestOps(operation);
    selector.select(left);
    selector.selectedKeys().clear();
    if (Thread.currentThread().isInterrupted()) {
      throw new IOException("the thread was interrupted");
    }
  }

  @Override
  public void write(byte[] bytes, long deadline) throws IOException {
    ByteBuffer rest = ByteBuffer.wrap(bytes);
    channel.write(rest);
    while (rest.hasRemaining()) {
      await(SelectionKey.OP_WRITE, deadline);
      channel.write(rest);
    }
  }

  @Override
  public int read(byte[] into, int at, long deadline) throws IOException {
    ByteBuffer room = ByteBuffer.wrap(into, at, into.length - at);
    while (true) {
      int count = channel.read(room);
      if (count != 0) {
        return count;
      }
      await(SelectionKey.OP_READ, deadline);
    }
  }

  @Override
  public boolean isIdle() {
    try {
      return channel.read(ByteBuffer.allocate(1)) == 0;
    } catch (IOException error) {
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
    selector.wakeup();
  }

  @Override
  public void close() {
    try {
      channel.close();
      selector.close();
    } catch (IOException closed) {
      // It is what was wanted.
    }
  }
}
