// A real browser, for the tests that drive one. The test that starts them says in one line of JSON
// on standard input where the servers are.
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

export const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
export const given = JSON.parse((await lines.next()).value);
export const browser = await chromium.launch({
  executablePath: given.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
});

/** What went wrong on any page: a script that ran, a request to another server. */
export const faults = [];

/** A new page, which nothing was loaded into. */
export async function blank(url, options = {}) {
  const context = await browser.newContext({
    locale: "en-GB",
    viewport: { width: 1200, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => faults.push(`error on the page: ${error}`));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) {
      faults.push(`asked outside: ${request.url()}`);
    }
  });
  return page;
}

/** The console of that server. */
export async function open(url, options = {}) {
  const page = await blank(url, options);
  await page.goto(`${url}/console`);
  return page;
}

/** Opens another screen of the same page. */
export async function visit(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

export const button = (page, name) => page.getByRole("button", { name, exact: true });
