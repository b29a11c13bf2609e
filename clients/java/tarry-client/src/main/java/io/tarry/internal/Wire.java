package io.tarry.internal;

import java.io.Closeable;
import java.io.IOException;

/** Bytes to and from a server. Thread safety: one thread reads and writes; any may abort. */
interface Wire extends Closeable {
  /** Throws {@link java.net.SocketTimeoutException} after the deadline, a {@code nanoTime}. */
  void write(byte[] bytes, long deadline) throws IOException;

  /** The number of bytes read into {@code into} from {@code at} on; -1 at the end. */
  int read(byte[] into, int at, long deadline) throws IOException;

  /** Whether the peer has neither closed it nor sent anything, as far as is known here. */
  boolean isIdle();

  /** Ends what another thread waits for. */
  void abort();

  @Override
  void close();
}
