// Tries the console in a real browser. tests/integration/clients/console_test.py starts the servers, and
// stops or starts one when asked to.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { browser, button, faults, given, lines, open, visit } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asks the test that runs this one for something, and waits until it is done. */
async function demand(what) {
  console.log(`demand ${what}`);
  assert.equal((await lines.next()).value, "done");
}

async function logIn(page, token) {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
}

const outcome = (page, text) =>
  page.getByRole("status").filter({ hasText: text }).first().waitFor();

async function checkAccess(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(
    (one) => `${where}: ${one.id} at ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
  assert.deepEqual(told, []);
}

/** In both colours and at the width of a telephone. */
async function checkLook(page, where) {
  await checkAccess(page, `${where}, light`);
  await button(page, "Light or dark").click();
  await checkAccess(page, `${where}, dark`);
  await button(page, "Light or dark").click();
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `${where} is ${wide} wide on a screen of 360`);
  await page.setViewportSize(size);
}

const tests = {
  async "a wrong token is refused, the right one lets in, and no script sees the cookie"() {
    const page = await open(given.file.url);
    await checkAccess(page, "login");
    await logIn(page, "no such token");
    await page.getByRole("alert").filter({ hasText: "no token of this server" }).waitFor();
    await logIn(page, given.file.admin);
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    assert.equal(await page.evaluate(() => document.cookie), "");
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("tarry_")), false);
    return page;
  },
  async "the overview is live"(page) {
    await page.getByRole("link", { name: "orders" }).waitFor();
    const row = page.getByRole("row", { name: /orders/ });
    const scheduled = row.locator("td").first();
    const before = Number((await scheduled.textContent()).replace(",", ""));
    await page.evaluate(() =>
      fetch("/v1/queues/orders/messages", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Tarry-Console": "1" },
        body: JSON.stringify({ key: "live:1", payload: "x", delay: "1h" }),
      }),
    );
    await page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll("tbody tr")]
          .find((row) => row.textContent.startsWith("orders"))
          ?.querySelector("td")
          ?.textContent.replace(",", "") === String(wanted),
      before + 1,
    );
    await checkLook(page, "overview");
  },
  async "a queue is paused and resumed, and its settings change"(page) {
    await page.getByRole("link", { name: "orders" }).click();
    await page.getByRole("heading", { name: "Due calendar" }).waitFor();
    await button(page, "Pause").click();
    await button(page.getByRole("dialog"), "Pause").click();
    await button(page, "Resume").waitFor();
    await button(page, "Resume").click();
    await button(page, "Pause").waitFor();
    await page.getByLabel("Lease", { exact: true }).fill("45s");
    await page.getByLabel("Expire after the due time").fill("30d");
    await page.getByLabel("When they expire").selectOption("dead");
    await page.getByLabel("Leased at once (0", { exact: false }).fill("7");
    await page.getByLabel("Leased at once of a group", { exact: false }).fill("5");
    await page.getByLabel("Claims (such as", { exact: false }).fill("1000000/1s");
    await page.getByLabel("Events of each message", { exact: false }).fill("20");
    await button(page, "Save").click();
    await outcome(page, "Saved.");
    const saved = await page.evaluate(async () => {
      const answer = await fetch("/v1/queues/orders");
      return (await answer.json()).settings;
    });
    assert.equal(saved.lease_ms, 45_000);
    assert.equal(saved.expire_ms, 30 * 86_400_000);
    assert.equal(saved.on_expiry, "dead");
    assert.equal(saved.max_leased, 7);
    assert.equal(saved.group_max_leased, 5);
    assert.equal(saved.history, 20);
    assert.equal(saved.rate, "1000000/1s");
    await page.getByLabel("Lease", { exact: true }).fill("soon");
    await button(page, "Save").click();
    await page.getByRole("alert").filter({ hasText: "lease" }).waitFor();
    await checkLook(page, "queue");
  },
  async "the calendar leads to the messages of a bar"(page) {
    await page.getByRole("group", { name: "Due calendar" }).getByRole("link").last().click();
    await page.getByRole("heading", { name: /Messages/ }).waitFor();
    // Bars begin at round times.
    assert.match(page.url(), /due_from=\d+0000&due_to=\d+0000$/);
    await page.locator("tbody tr").first().waitFor();
    await checkLook(page, "messages");
    // Two bars that follow each other: at the end of one, and at the beginning of the next.
    for (const [bar, key] of ["before", "at"].entries()) {
      await visit(page, "#/queue/edges");
      const bars = page.getByRole("group", { name: "Due calendar" }).getByRole("link");
      await bars.nth(1).waitFor();
      assert.equal(await bars.count(), 2);
      await bars.nth(bar).click();
      await page.getByRole("link", { name: key, exact: true }).waitFor();
      assert.equal(await page.locator("tbody tr").count(), 1);
    }
  },
  async "hostile keys and payloads are only text"(page) {
    await visit(page, "#/queue/hostile/messages");
    await page.locator("tbody tr").nth(3).waitFor();
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    await page.getByText("\\u202e").first().waitFor();
    await page.getByRole("link", { name: "<img src=x onerror=alert(1)>" }).click();
    await page.getByText("<script>alert(2)</script>").first().waitFor();
    await checkLook(page, "message");
    await visit(page, "#/queue/hostile/messages");
    await page.getByRole("link", { name: /^base64:/ }).click();
    await button(page, "Hex").waitFor();
    await page.getByText("000000  00 ff").waitFor();
    await visit(page, "#/queue/%3Cscript%3Ealert(3)%3C%2Fscript%3E");
    await page.getByRole("heading", { name: "<script>alert(3)</script>" }).waitFor();
    assert.equal(await page.locator("main img, main script").count(), 0);
  },
  async "a deep payload and a wrong address leave the page usable"(page) {
    await visit(page, "#/queue/hostile/message?key=deep");
    await page.getByText("0 …", { exact: true }).waitFor({ state: "attached" });
    await visit(page, "#/queue/orders/messages?due_from=soon&due_to=99999999999999999");
    await page.locator("tbody tr").first().waitFor();
  },
  async "a message is pushed, moved, run, buried, revived and cancelled"(page) {
    await page.evaluate(() =>
      fetch("/v1/queues/hand", {
        method: "PUT",
        headers: { "Content-Type": "application/json", "X-Tarry-Console": "1" },
        body: JSON.stringify({ history: 20 }),
      }),
    );
    await visit(page, "#/push?queue=hand");
    await page.getByLabel("Key", { exact: false }).first().fill("order:42");
    await page.getByLabel("Delay", { exact: false }).fill("2h");
    await page
      .getByLabel("Payload")
      .fill('{"total": 12345678901234567890, "lines": [{"sku": "a-1"}]}');
    await button(page, "Push").click();
    await outcome(page, "pushed");
    await checkLook(page, "push");
    await page.getByRole("link", { name: "order:42" }).click();
    await page.getByText('"a-1"').waitFor();
    await page.getByText("total: 12345678901234567890", { exact: true }).waitFor();
    await page.getByText("It is not due before").waitFor();
    await page.getByLabel("Move by or to", { exact: false }).fill("-30m");
    await button(page, "Move").click();
    await outcome(page, "rescheduled");
    await button(page, "Run now").click();
    await page.locator(".chip.ready").waitFor();
    await button(page, "Bury").click();
    await page.locator(".chip.dead").waitFor();
    await page.getByText("It is dead, 1 of 10 attempts made: buried by hand.").waitFor();
    await button(page, "Revive").click();
    await page.locator(".chip.ready").waitFor();
    await page.getByRole("cell", { name: "revived" }).waitFor();
    const events = await page.locator(".history tbody tr td:nth-child(2)").allTextContents();
    assert.deepEqual(events.slice(0, 3), ["pushed", "rescheduled", "rescheduled"]);
    assert.deepEqual(events.slice(3), ["claimed", "buried", "revived"]);
    await page.locator(".history").getByText("buried by hand").waitFor();
    await button(page, "Cancel").click();
    await button(page, "Cancel message").click();
    await outcome(page, "cancelled");
  },
  async "many are cancelled: counted first, confirmed by typing, with progress"(page) {
    await visit(page, "#/queue/orders/messages?prefix=campaign%3A");
    await page.locator("tbody tr").first().waitFor();
    await button(page, "Cancel messages").click();
    const dialog = page.getByRole("dialog", { name: "Cancel 1,100 messages?" });
    await dialog.getByText("In orders. Key begins with: campaign:").waitFor();
    assert.ok(await button(dialog, "Cancel 1,100 messages").isDisabled());
    await checkAccess(page, "confirm");
    await dialog.getByRole("textbox").fill("1,100");
    await page.keyboard.press("Enter");
    await page.getByText("1,100 of 1,100 done.").waitFor();
    await page.getByText("cancelled: 1,100").waitFor();
  },
  async "messages are found by header and by reason"(page) {
    await visit(page, "#/queue/hostile/messages");
    await page
      .getByLabel("Has the header", { exact: false })
      .fill("x-note=<b onmouseover=alert(4)>");
    await page.keyboard.press("Enter");
    await page.waitForURL(/header=/);
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    await visit(page, "#/queue/mails/messages");
    await page.locator("tbody tr").nth(3).waitFor();
    await page.getByLabel("Reason", { exact: false }).fill("conn* refused");
    await button(page, "Search").click();
    await page.waitForURL(/reason=/);
    await page.locator("tbody tr").nth(3).waitFor({ state: "detached" });
    await page.locator("tbody tr").nth(2).waitFor();
    await button(page, "Revive").click();
    await page.getByRole("dialog", { name: "Revive 3 messages?" }).waitFor();
    await button(page, "Back").click();
  },
  async "a span of the calendar is moved, and chosen with the keyboard"(page) {
    await visit(page, "#/queue/spans");
    const bars = page.getByRole("group", { name: "Due calendar" });
    await bars.getByRole("link").first().waitFor();
    await bars.scrollIntoViewIfNeeded();
    const box = await bars.boundingBox();
    const middle = (bar) => box.x + ((bar + 0.5) / 60) * box.width;
    await page.mouse.move(middle(7), box.y + 20);
    await page.mouse.down();
    await page.mouse.move(middle(9), box.y + 25);
    await page.mouse.move(middle(30), box.y + 30);
    await page.mouse.up();
    await page.getByRole("status").filter({ hasText: "Chosen:" }).waitFor();
    await page.getByLabel("Move by", { exact: false }).fill("2h");
    await button(page, "Move").click();
    await button(page, "Move 5 messages by 2h").click();
    await page.getByText("5 of 5 done.").waitFor();
    await page.getByText("rescheduled: 5").waitFor();
    await checkAccess(page, "span");
    await button(page, "1d").click();
    await bars.getByRole("link").first().focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await page.getByRole("status").filter({ hasText: "Chosen:" }).waitFor();
    await button(page, "Cancel messages").click();
    await page.getByRole("dialog", { name: "Cancel 5 messages?" }).waitFor();
    await button(page, "Back").click();
    await bars.getByRole("link").first().focus();
    await page.keyboard.press("Escape");
    await button(page, "Choose nothing").waitFor({ state: "detached" });
  },
  async "the dead are grouped by reason, and a group is revived"(page) {
    await visit(page, "#/queue/mails/dead");
    await page.getByRole("rowheader", { name: "connection refused" }).waitFor();
    await checkLook(page, "dead");
    await page
      .getByRole("row", { name: /connection refused/ })
      .getByRole("button")
      .click();
    await page.getByRole("region", { name: "All that match" }).getByRole("button").first().click();
    await button(page, "Revive 3 messages").click();
    await page.getByText("revived: 3").waitFor();
  },
  async "schedules: their next times, paused, run and removed"(page) {
    await visit(page, "#/schedules");
    const row = page.getByRole("row", { name: /nightly/ });
    await row.getByText("0 3 * * * Europe/Berlin").waitFor();
    await button(page, "Show nightly").click();
    const shown = page.getByRole("region", { name: "nightly" });
    await shown
      .getByText(/T03:00:00\+0[12]:00/)
      .nth(4)
      .waitFor();
    await shown.getByText("neither has nor remembers").waitFor();
    await checkLook(page, "schedules");
    await button(page, "Pause nightly").click();
    await row.getByText("Paused").waitFor();
    await button(page, "Resume nightly").click();
    await button(page, "Pause nightly").waitFor();
    await button(page, "Run now nightly").click();
    await outcome(page, "nightly: pushed");
    await button(page, "Remove hourly").click();
    await page.getByRole("dialog").getByText("Remove the schedule hourly?").waitFor();
    await button(page, "Remove").click();
    await outcome(page, "hourly: removed");
    await page.getByRole("row", { name: /hourly/ }).waitFor({ state: "detached" });
  },
  async "two people act at once, and one ends the other's session"(page) {
    const other = await open(given.file.url);
    await logIn(other, given.file.reader);
    await other.getByRole("link", { name: "orders" }).waitFor();
    assert.equal(await other.getByRole("link", { name: "Sessions" }).count(), 0);
    await visit(other, "#/sessions");
    await other.getByRole("alert").filter({ hasText: "lacks the scope admin" }).waitFor();
    await visit(page, "#/sessions");
    await page.getByRole("row", { name: /^admin this page/ }).waitFor();
    await checkLook(page, "sessions");
    await page
      .getByRole("row", { name: /^reader/ })
      .getByRole("button")
      .click();
    await page.getByRole("dialog").getByText("End the session of reader?").waitFor();
    await button(page.getByRole("dialog"), "End").click();
    await outcome(page, "The session of reader has ended.");
    await other.getByLabel("Token").waitFor();
    await logIn(other, given.file.admin);
    await other.getByRole("button", { name: "Log out admin" }).waitFor();
    const same = "#/queue/hostile/message?key=large";
    for (const one of [page, other]) {
      await visit(one, same);
      await button(one, "Cancel").click();
    }
    await button(page, "Cancel message").click();
    await outcome(page, "cancelled");
    await button(other, "Cancel message").click();
    await outcome(other, "unknown");
    await other.context().close();
  },
  async "the audit log and the connections are shown"(page) {
    await page.evaluate(() =>
      fetch("/v1/queues/hostile/cancel", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Tarry-Console": "1" },
        body: JSON.stringify({ keys: ["<img src=y onerror=alert(5)>\u202e"] }),
      }),
    );
    await visit(page, "#/audit");
    await page.getByRole("row", { name: /end_session .*session_of: reader/ }).waitFor();
    await page.getByRole("link", { name: "<img src=y onerror=alert(5)>\\u202e" }).waitFor();
    await checkLook(page, "audit");
    await page.getByRole("button", { name: "Load more" }).click();
    await page.locator("tbody tr").nth(50).waitFor();
    await visit(page, "#/clients");
    await page.getByRole("row", { name: /^127\.0\.0\.1 admin http/ }).waitFor();
    await checkLook(page, "clients");
  },
  async "relays, and pages that do not exist"(page) {
    await visit(page, "#/relays");
    await page.getByText("This server runs no relay.").waitFor();
    await checkLook(page, "relays");
    await visit(page, "#/nothing");
    await page.getByText("There is no such page.").waitFor();
    await visit(page, "#/queue/orders/message?key=nobody");
    await page.getByRole("alert").waitFor();
  },
  async "it speaks Chinese"(page) {
    await visit(page, "#/");
    await button(page, "English / 中文").click();
    await page.getByRole("heading", { name: "队列" }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
    await checkAccess(page, "Chinese");
    await button(page, "English / 中文").click();
  },
  async "the keyboard reaches the content"(page) {
    await page.reload();
    await page.getByRole("link", { name: "orders" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "content");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Due calendar" }).waitFor();
  },
  async "a hidden page closes its stream"(page) {
    await visit(page, "#/");
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    const closed = page.waitForEvent("requestfailed", (one) => one.url().endsWith("/events"));
    await hide(true);
    await closed;
    const opened = page.waitForRequest((one) => one.url().endsWith("/console/events"));
    await hide(false);
    await opened;
  },
  async "the server goes away and comes back"(page) {
    await demand("stop");
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await demand("start");
    // A restart ends the sessions.
    await page.getByLabel("Token").waitFor();
    await logIn(page, given.file.reader);
    await page.getByRole("link", { name: "orders" }).waitFor();
  },
  async "a token that may only read finds no button to press"(page) {
    await page.getByRole("link", { name: "orders" }).click();
    await page.getByText("read only").waitFor();
    assert.ok(await button(page, "Pause").isDisabled());
    assert.ok(await button(page, "Save").isDisabled());
    await visit(page, "#/queue/orders/messages?prefix=live");
    await page.getByRole("link", { name: "live:1" }).click();
    await button(page, "Run now").waitFor();
    for (const name of ["Run now", "Cancel", "Revive", "Bury", "Move"]) {
      assert.ok(await button(page, name).isDisabled(), name);
    }
    await visit(page, "#/push?queue=orders");
    assert.ok(await page.locator("form button").isDisabled());
    await visit(page, "#/schedules");
    await button(page, "Show nightly").waitFor();
    for (const name of ["Pause", "Run now", "Remove"]) {
      assert.ok(await button(page, `${name} nightly`).isDisabled(), name);
    }
  },
  async "a token that is taken back ends the session"(page) {
    await demand("revoke");
    await page.getByLabel("Token").waitFor();
    await logIn(page, given.file.admin);
    await page.getByRole("button", { name: "Log out admin" }).waitFor();
  },
  async "a logout ends the session"(page) {
    await page.getByRole("button", { name: /Log out/ }).click();
    await page.getByLabel("Token").waitFor();
    const status = await page.evaluate(() => fetch("/v1/stats").then((one) => one.status));
    assert.equal(status, 401);
    await page.context().close();
  },
  async "an open server on Redis needs no login"() {
    const page = await open(given.redis.url);
    await page.getByRole("link", { name: "orders" }).click();
    await page.getByRole("heading", { name: "Due calendar" }).waitFor();
    await visit(page, "#/queue/orders/messages");
    await page.getByRole("link", { name: "order:1" }).click();
    await button(page, "Run now").click();
    await page.locator(".chip.ready").waitFor();
    await visit(page, "#/queue/orders/messages");
    await button(page, "Cancel messages").click();
    await button(page, "Cancel 1 message").click();
    await page.getByText("cancelled: 1").waitFor();
    await visit(page, "#/audit");
    await page.getByText("This server has no audit log.").waitFor();
    await visit(page, "#/sessions");
    await page.getByText("Nobody is logged in.").waitFor();
    await visit(page, "#/");
    await page.getByRole("button", { name: "Load more (11)" }).click();
    await page.locator("tbody tr").nth(210).waitFor();
    await page.getByLabel("Find queues").fill("shop.20");
    await page.locator("tbody tr").nth(11).waitFor({ state: "detached" });
    assert.equal(await page.locator("tbody tr").count(), 11);
    await page.getByLabel("Find queues").fill("nothing");
    await page.getByText("No queue has this in its name.").waitFor();
    await page.context().close();
  },
};

let page;
let failed = false;
for (const [name, test] of Object.entries(tests)) {
  const began = performance.now();
  try {
    page = (await test(page)) ?? page;
    assert.deepEqual(faults, []);
    console.log(`ok ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    console.log(`FAILED ${name}: ${error.stack}`);
    const seen = await page
      ?.locator("body")
      .innerText()
      .catch(() => "");
    console.log(`the page: ${page?.url()}\n${seen?.slice(0, 1500)}`);
    failed = true;
    break;
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
