/**
 * `npm run bench:console`: KiB of the first load, the time from a click on a collection to its rows, and the longest
 * tasks of a page with large documents. In a real browser on the local service.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { endWithNpm } from '../infra/local/processes.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { readArguments } from '../scripts/read-arguments.ts';
import { openChromium, signIn } from '../test/support/clients/chromium.ts';
import { type Tasks, tasksDuring } from './long-tasks.ts';
import { type Bed, makeBed } from './seed.ts';
import { median } from './statistics.ts';

readArguments(
  `Usage: npm run bench:console
Measures loading and scrolling times of the console in a real browser, with a local service of its own.`,
  {},
);

const clicks = 20;
const rows = 50;
/** Size of a large document as JSON. */
const largeBytes = 100_000;
const step = 120;

const small = Array.from({ length: clicks }, (_, index) => `posts${index + 1}`);

const words = 'Some words of a long text. ';

/** A document with one long text; the rest is a list of objects. */
const largeDocument = (name: string, index: number, textShare: number) => {
  const part = { name: 'part', value: index, note: 'some words about it' };
  const parts = Math.floor((largeBytes * (1 - textShare)) / (JSON.stringify(part).length + 1));
  return {
    title: `${name} ${index}`,
    text: words.repeat((largeBytes * textShare) / words.length),
    parts: Array.from({ length: parts }, () => part),
  };
};

/** Collections of large documents, by the share of text. Fewer documents of small objects fit into a response. */
const larges = { large: { textShare: 0.9, shown: rows }, objects: { textShare: 0, shown: 25 } };

const insert = async (baseUrl: string, { secretKey }: Bed, collection: string, documents: readonly object[]) => {
  const response = await fetch(`${baseUrl}/api/data/${collection}/bulk`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': secretKey },
    body: JSON.stringify(documents),
  });
  if (!response.ok) throw new Error(`${collection}: ${response.status} ${await response.text()}`);
};

/** Compressed bytes of all files until the first screen is visible. */
const firstLoad = async (page: Page, url: string): Promise<number> => {
  const bodies: Promise<number>[] = [];
  page.on('response', (response) => {
    if (!new URL(response.url()).pathname.startsWith('/api/'))
      bodies.push(response.body().then((body) => gzipSync(body).length));
  });
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  page.removeAllListeners('response');
  return (await Promise.all(bodies)).reduce((sum, bytes) => sum + bytes, 0);
};

/** Milliseconds from the next click to the frame after the rows of a collection are visible. */
const untilRows = (page: Page, collection: string, count = rows): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const look = (since) => {
      const shown = document.querySelectorAll('main tbody tr:not(.waiting)');
      const isThere = shown.length === ${count} && shown[0].textContent.includes('${collection} ');
      requestAnimationFrame(() => isThere ? resolve(performance.now() - since) : look(since));
    };
    addEventListener('click', ({ timeStamp }) => look(timeStamp), { capture: true, once: true });
  })`);

const open = (page: Page, collection: string): Promise<void> =>
  page.locator('.side').getByRole('link', { name: collection, exact: true }).click();

/** Scrolls to the end and back, like a mouse wheel. */
const scroll = async (page: Page): Promise<void> => {
  await page.mouse.move(900, 600);
  const ends = [
    [step, 'scrollY + innerHeight >= document.documentElement.scrollHeight - 1'],
    [-step, 'scrollY <= 0'],
  ] as const;
  for (const [by, isEnd] of ends) {
    let isThere = false;
    while (!isThere) {
      await page.mouse.wheel(0, by);
      isThere = await page.evaluate<boolean>(
        `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(${isEnd}))))`,
      );
    }
  }
};

const say = (what: string, figure: string): void => console.log(`  ${what.padEnd(52)} ${styleText('bold', figure)}`);
const tasksText = ({ count, long, longest }: Tasks): string =>
  `longest task ${longest.toFixed(1)} ms; ${long} of ${count} over 50 ms`;

endWithNpm();
const directory = await mkdtemp(path.join(tmpdir(), 'basalt-console-'));
const stack = await startStack({
  ...parseSettings({ PORT: '0', BASALT_DIR: directory, RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent' }),
  report: () => undefined,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const browser = await openChromium();
try {
  const bed = await makeBed(stack.dashboardUrl, small);
  for (const name of small) {
    const documents = Array.from({ length: rows }, (_, index) => ({ title: `${name} ${index}`, likes: index }));
    await insert(stack.baseUrl, bed, name, documents);
  }
  for (const [name, { textShare }] of Object.entries(larges)) {
    await bed.dashboard('POST', `/api/projects/${bed.projectId}/collections`, { name, schema: null });
    const many = Array.from({ length: rows }, (_, index) => largeDocument(name, index, textShare));
    for (let at = 0; at < rows; at += 10) await insert(stack.baseUrl, bed, name, many.slice(at, at + 10));
  }

  const { page } = await browser.newPage();
  say('first load, compressed', `${((await firstLoad(page, stack.dashboardUrl)) / 1024).toFixed(1)} KiB`);
  await signIn(page, bed.account);
  await page.getByRole('link', { name: 'bench' }).first().click();
  const waits: number[] = [];
  for (const name of small) {
    const shown = untilRows(page, name);
    await open(page, name);
    waits.push(await shown);
  }
  say(
    `from a click to ${rows} rows, ${clicks} collections for the first time`,
    `median ${median(waits).toFixed(0)} ms, longest ${Math.max(...waits).toFixed(0)} ms`,
  );
  for (const [name, { textShare, shown: count }] of Object.entries(larges)) {
    const named = `${count} documents of ${largeBytes / 1000} KB, ${textShare * 100} % text`;
    const loading = await tasksDuring(page, async () => {
      const shown = untilRows(page, name, count);
      await open(page, name);
      await shown;
    });
    say(`${named}, until they are shown`, tasksText(loading));
    say(`${named}, scrolled to the end and back`, tasksText(await tasksDuring(page, () => scroll(page))));
  }
} finally {
  await browser.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit();
