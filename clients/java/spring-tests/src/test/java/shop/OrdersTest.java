package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tarry.spring.TarryListener;
import io.tarry.spring.TarryTemplate;
import io.tarry.spring.test.TarryTest;
import io.tarry.spring.test.TarryTestClock;
import java.util.List;
import org.junit.jupiter.api.Test;

class Shop {
  @TarryListener(queue = "orders")
  void close(String order) {
    System.out.println("closed " + order);
  }
}

@TarryTest(Shop.class)
record OrdersTest(TarryTemplate tarry, TarryTestClock clock) {
  @Test
  void closesWhatIsNotPaid() {
    List.of("42", "43", "44").forEach(id -> tarry.push("orders", id, id, "30m"));
    tarry.cancel("orders", "43"); // it is paid
    tarry.reschedule("orders", "44", "1h"); // more time
    assertEquals(List.of("42"), clock.advance("30m"));
    assertEquals(List.of("44"), clock.advance("30m"));
  }
}
