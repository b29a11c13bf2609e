// Draws the pictures of docs/guide/console.md, and compares them with the pictures that are there.
// Time stands still: the server has a test clock, and the page's clock is held.
import { readFileSync, writeFileSync } from "node:fs";

import { blank, browser, button, faults, given, visit } from "./browser.mjs";

// Chromium 150 and 156, on Debian 12 and 13, draw the same points. Another version may smooth letters
// in its own way. A text that moves by a few points is 0.4 % of a picture.
const allowed = 0.002;

async function open(options = {}) {
  const page = await blank(given.url, { timezoneId: "UTC", ...options });
  await page.clock.setFixedTime(given.now_ms);
  await page.addInitScript(() => {
    performance.now = () => 0;
  });
  await page.goto(`${given.url}/console`);
  return page;
}

/** Opens the screen, and returns its picture once all that is looked for is there. */
async function screen(page, hash, ...wanted) {
  await visit(page, hash);
  for (const one of wanted) {
    await (typeof one === "string" ? page.getByText(one) : one).first().waitFor();
  }
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  return page.screenshot({ animations: "disabled" });
}

/** The share of points that differ, seen by eye; 1 if the sizes do. */
async function difference(page, one, other) {
  return page.evaluate(
    async (pictures) => {
      const [left, right] = await Promise.all(
        pictures.map(async (base64) => {
          const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          const bitmap = await createImageBitmap(new Blob([bytes]));
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
          canvas.drawImage(bitmap, 0, 0);
          return canvas.getImageData(0, 0, bitmap.width, bitmap.height);
        }),
      );
      if (left.width !== right.width || left.height !== right.height) return 1;
      let points = 0;
      for (let at = 0; at < left.data.length; at += 4) {
        const far = [0, 1, 2].some((i) => Math.abs(left.data[at + i] - right.data[at + i]) > 48);
        if (far) points += 1;
      }
      return points / (left.width * left.height);
    },
    [one, other].map((picture) => picture.toString("base64")),
  );
}

const bars = (page, name) => page.getByRole("group", { name }).getByRole("link");
const message = "#/queue/orders/message?key=order%3A42";
const page = await open();
const telephone = await open({ viewport: { width: 360, height: 740 } });
const chinese = await open({ locale: "zh-CN" });
const pictures = {
  overview: await screen(page, "#/", "reminders", "Acked"),
  queue: await screen(page, "#/queue/orders", bars(page, "Due calendar")),
  messages: await screen(page, "#/queue/orders/messages", "order:42"),
  message: await screen(page, message, "It is not due before", '"a-1"'),
  dead: await screen(page, "#/queue/mails/dead", "connection refused"),
  schedules: await screen(page, "#/schedules", "nightly"),
  telephone: await screen(telephone, message, "It is not due before"),
  "queue.zh-CN": await screen(chinese, "#/queue/orders", bars(chinese, "到期日历")),
};
await button(page, "Light or dark").click();
pictures.dark = await screen(page, "#/", "reminders");

const compared = await browser.newPage();
for (const [name, picture] of Object.entries(pictures)) {
  const file = `${given.pictures}/console-${name}.png`;
  if (given.draw) {
    writeFileSync(file, picture);
    continue;
  }
  const share = await difference(compared, picture, readFileSync(file));
  console.log(`${name}: ${(share * 100).toFixed(2)} % differ`);
  if (share > allowed) {
    faults.push(`${name} does not look as in ${file}; see ${given.drawn}`);
    writeFileSync(`${given.drawn}/console-${name}.png`, picture);
  }
}
await browser.close();
if (faults.length > 0) {
  console.log(faults.join("\n"));
  process.exit(1);
}
