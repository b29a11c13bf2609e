package io.tarry.spring.autoconfigure;

import io.tarry.TarryClient;
import io.tarry.errors.TarryException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Asks the server once, so that a wrong token ends the start, and not the first message. */
final class StartCheck implements SmartInitializingSingleton {
  private static final Log LOG = LogFactory.getLog(StartCheck.class);

  private final TarryClients clients;
  private final boolean failFast;

  StartCheck(TarryClients clients, boolean failFast) {
    this.clients = clients;
    this.failFast = failFast;
  }

  @Override
  public void afterSingletonsInstantiated() {
    try (TarryClient client = clients.probe()) {
      client.stats();
    } catch (TarryException error) {
      if (error.status() == 401) {
        throw failure(
            clients.hasToken()
                ? TarryStartException.Kind.WRONG_TOKEN
                : TarryStartException.Kind.NO_TOKEN,
            error);
      } else if (error.status() == 403) {
        return; // The token is right, and may not see figures.
      } else if (failFast) {
        throw failure(TarryStartException.Kind.UNREACHABLE, error);
      }
      LOG.warn("tarry at " + clients.url() + " does not answer yet: " + error.getMessage());
    }
  }

  private TarryStartException failure(TarryStartException.Kind kind, TarryException error) {
    return new TarryStartException(kind, clients.url(), error);
  }
}
