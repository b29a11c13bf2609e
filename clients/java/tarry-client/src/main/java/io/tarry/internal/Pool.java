package io.tarry.internal;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Connections that are kept between requests. Thread safe. */
public final class Pool {
  private static final int MAX_IDLE = 32;

  private final Address address;
  private final Duration connectTimeout;
  private final Deque<Connection> idle = new ArrayDeque<>();
  private boolean closed;

  Pool(Address address, Duration connectTimeout) {
    this.address = address;
    this.connectTimeout = connectTimeout;
  }

  /** A connection for one request after another, by one thread. */
  public Connection take() throws NotSent {
    while (true) {
      Connection kept;
      synchronized (this) {
        if (closed) {
          throw new NotSent("the client is closed");
        }
        kept = idle.pollLast();
      }
      if (kept == null) {
        return new Connection(address, connectTimeout);
      }
      if (kept.isOpen()) {
        return kept;
      }
      kept.close();
    }
  }

  private void give(Connection connection) {
    if (connection.isKept()) {
      synchronized (this) {
        if (!closed && idle.size() < MAX_IDLE) {
          idle.addLast(connection);
          return;
        }
      }
    }
    connection.close();
  }

  Answer ask(byte[] request, Duration timeout) throws NotSent, Lost {
    Connection connection = take();
    try {
      return connection.ask(request, timeout);
    } finally {
      give(connection);
    }
  }

  void close() {
    Deque<Connection> open;
    synchronized (this) {
      closed = true;
      open = new ArrayDeque<>(idle);
      idle.clear();
    }
    open.forEach(Connection::close);
  }
}
