package io.tarry.internal;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** One connection. Thread safety: one thread asks; any thread may abort. */
public final class Connection {
  private final Wire wire;
  private final String url;
  private boolean keep = true;

  Connection(Address address, Duration timeout) throws NotSent {
    url = address.url();
    try {
      wire = address.connect(System.nanoTime() + timeout.toNanos());
    } catch (IOException error) {
      String why = error.getMessage() == null ? error.toString() : error.getMessage();
      throw new NotSent(url + " cannot be reached: " + why);
    }
  }

  /** Whether it can take a request, as far as is known here. */
  public boolean isOpen() {
    return keep && wire.isIdle();
  }

  boolean isKept() {
    return keep;
  }

  Answer ask(byte[] request, Duration timeout) throws Lost {
    keep = false;
    long deadline = System.nanoTime() + timeout.toNanos();
    try {
      wire.write(request, deadline);
      Answer answer = new AnswerReader(wire, deadline).read();
      keep = answer.keep;
      return answer;
    } catch (SocketTimeoutException error) {
      throw new Lost(url + " did not answer within " + timeout.toMillis() + " ms");
    } catch (IOException | RuntimeException error) {
      throw new Lost(url + " gave no whole answer: " + error.getMessage());
    }
  }

  /** Ends what another thread waits for. The server then withdraws a waiting claim. */
  public void abort() {
    wire.abort();
  }

  public void close() {
    wire.close();
  }
}
