// Opens the console's screens over a large store, and says how long each takes until it is there:
// bench/console.py --browser.
import { browser, button, faults, given, open, visit } from "./browser.mjs";

const page = await open(given.url);
page.setDefaultTimeout(120_000);

async function screen(name, hash, wanted, times = 5) {
  const took = [];
  for (let n = 0; n < times; n += 1) {
    await visit(page, "#/push");
    await page.getByLabel("Payload").waitFor();
    const began = performance.now();
    await visit(page, hash);
    await wanted().first().waitFor();
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  const [median, worst] = [took[Math.floor(took.length / 2)], took[took.length - 1]];
  console.log(`  ${name.padEnd(40)} median ${median.toFixed(0)} ms   worst ${worst.toFixed(0)} ms`);
}

const text = (words) => () => page.getByText(words);
const bars = () => page.getByRole("group", { name: "Due calendar" }).getByRole("link");
await screen("overview", "#/", () => page.locator("tbody tr").nth(199));
await screen("a queue", "#/queue/big", text("Due calendar"));
await screen("messages, the first page", "#/queue/big/messages", text("order:1"));
await screen("messages, a prefix", "#/queue/big/messages?prefix=order%3A77", text("order:77"));
await screen("a message", "#/queue/big/message?key=order%3A9999", text("It is not due before"));
await visit(page, "#/queue/big");
await page.getByText("Due calendar").waitFor();
const began = performance.now();
await button(page, "1y").click();
await bars().nth(20).waitFor();
console.log(`  the year's calendar, once: ${(performance.now() - began).toFixed(0)} ms`);
await browser.close();
if (faults.length > 0) {
  console.log(faults.join("\n"));
  process.exit(1);
}
