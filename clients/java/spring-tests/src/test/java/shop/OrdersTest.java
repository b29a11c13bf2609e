package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tarry.spring.*;
import io.tarry.spring.test.*;
import java.time.Duration;
import java.util.*;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class Shop {
  record Order(String id, int cents) {}

  final List<String> closed = new ArrayList<>();

  @TarryListener(queue = "orders")
  void close(Order order) {
    closed.add(order.id());
  }
}

@TarryTest
class OrdersTest {
  @Test
  void closesWhatIsNotPaid(
      @Autowired TarryTemplate tarry, @Autowired TarryTestClock clock, @Autowired Shop shop) {
    for (String id : List.of("42", "43", "44")) {
      tarry.push("orders", id, new Shop.Order(id, 1990), Duration.ofMinutes(30));
    }
    tarry.cancel("orders", "43"); // it is paid
    tarry.reschedule("orders", "44", Duration.ofHours(1)); // more time
    clock.advance(Duration.ofMinutes(30));
    assertEquals(List.of("42"), shop.closed);
    clock.advance(Duration.ofMinutes(30));
    assertEquals(List.of("42", "44"), shop.closed);
  }
}
