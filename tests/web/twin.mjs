// The page of the twin in Chromium, with a small server (twin_server.mjs): nothing that its policy refuses, texts that can be read at two widths, intervals of
// the values. Oracles: the standard deviations that the server sends; widths of texts.
import { check, finish, fromPackage } from './support.mjs';
import { startTwin } from './twin_server.mjs';

const { chromium } = fromPackage('playwright-core'), twin = await startTwin();
const browser = await chromium.launch({ executablePath: process.env.OD_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const text = 'wear: valve.ports.a.curve.points[1] is 63.2, above 63';
twin.event('alarm', text);
twin.event('note', 'the estimate is back');

for (const width of [1280, 390]) {
  const context = await browser.newContext({ viewport: { width, height: 900 } }), page = await context.newPage();
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') check(false, `console: ${m.text()}`); });
  page.on('pageerror', e => check(false, `error in the page: ${e.message}`));
  page.on('request', r => { if (!r.url().startsWith(twin.address)) check(false, `the page requests ${r.url()}`); });
  await page.goto(twin.address);
  await page.locator('.event-list .finding').first().waitFor();
  await page.locator('#circuit svg text').first().waitFor();
  await page.waitForTimeout(1500);
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `the page is wider than ${width} px`);
  // The text of an event has most of its row, and the time stands beside it.
  for (const row of await page.locator('.event-list .finding').all()) {
    const whole = await row.boundingBox(), words = await row.locator('.event-text').boundingBox(), time = await row.locator('.at').boundingBox();
    check(words.width > 0.5 * whole.width, `at ${width} px the text of an event has ${words.width} of ${whole.width} px`);
    check(time.x >= words.x + words.width && time.height < 30, `at ${width} px the time of an event is at ${JSON.stringify(time)}`);
  }
  check((await page.locator('.event-list .finding').last().textContent()).includes(text), 'the events have another text');
  const title = await page.locator('.titles h1').boundingBox();
  check(title.height < 45, `at ${width} px the title is ${title.height} px high`);
  // The selectors of charts do not overlap; a long list of them can be scrolled within the page.
  for (const choice of await page.locator('.chart-bar .choice').all()) {
    const whole = await choice.boundingBox(), places = await choice.locator('button').evaluateAll(list => list.map(b => [b.getBoundingClientRect(), b.scrollWidth - b.clientWidth]).map(([r, hidden]) => [r.left, r.right, hidden]));
    check(whole.x >= 0 && whole.x + whole.width <= width, `at ${width} px the selectors are at ${JSON.stringify(whole)}`);
    check(places.every(([left, , hidden], i) => hidden <= 1 && (i === 0 || left >= places[i - 1][1] - 0.5)), `at ${width} px the selectors overlap: ${JSON.stringify(places)}`);
  }
  // Half of the 95 % interval: 1.2 bar times 1.96.
  const row = page.locator('#values tr', { hasText: 'lift.A.pressure' });
  await row.scrollIntoViewIfNeeded();
  await page.waitForTimeout(1500);
  const shown = Number(/± ([\d.]+)/.exec(await row.textContent())?.[1]);
  check(Math.abs(shown - 1.96 * 1.2) < 0.1, `at ${width} px the interval of lift.A.pressure is ± ${shown} bar`);
  await context.close();
}
await browser.close();
await twin.stop();
finish();
