import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { endWithNpm } from '../../infra/local/npm-parent.ts';
import { startStack } from '../../infra/local/stack.ts';
import { openChromium, signIn } from '../../test/support/clients/chromium.ts';
import { readArguments } from '../read-arguments.ts';
import { refuse } from '../refuse.ts';
import { addressOf, pictureOf, screens, shownPictures, themes, widths } from './screens.ts';
import { seed } from './seed.ts';
import { shop } from './shop.ts';

const root = path.resolve(import.meta.dirname, '../..');
const shownFolder = path.join(root, 'docs/console');
const folder = path.join(root, '.basalt/screenshots');

const heights: Readonly<Record<number, number>> = { 390: 844, 1440: 900 };

/** What a page looks like now, as WebP, which the browser writes at half the size of PNG. */
const take = async (context: BrowserContext, page: Page): Promise<Buffer> => {
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 72 });
  await session.detach();
  return Buffer.from(data, 'base64');
};

const { positionals: names } = readArguments(
  `Usage: npm run screenshots -- [name of a screen…]
Takes pictures of every screen of the console, or of those named, in light and dark, on a phone and on a wide screen,
into .basalt/screenshots, and those that the guides show into docs/console. They show a shop that has been open for a month. There are: ${screens.map(({ name }) => name).join(', ')}`,
  { allowPositionals: true },
);
const unknown = names.find((name) => !screens.some((screen) => screen.name === name));
if (unknown !== undefined) refuse(`${unknown} is no screen. There are: ${screens.map(({ name }) => name).join(', ')}`);
const wanted = screens.filter(({ name }) => names.length === 0 || names.includes(name));

endWithNpm();
const directory = await mkdtemp(path.join(tmpdir(), 'basalt-screenshots-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: undefined,
  dynamoEndpoint: undefined,
  dashboardOrigins: [],
  files: undefined,
  liveUpdates: false,
  functions: { RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', USAGE_SECONDS: '1', MAIL_PER_SECOND: '0' },
  report: () => undefined,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
/** The pages by name, where browsers have passkeys. */
const site = stack.dashboardUrl.replace('127.0.0.1', 'localhost');
const browser = await openChromium();
try {
  const seeded = await seed(stack);
  await mkdir(folder, { recursive: true });
  let bytes = 0;
  const said: string[] = [];
  for (const colorScheme of themes) {
    for (const width of widths) {
      const viewport = { width, height: heights[width] ?? 900 };
      const settings = { colorScheme, viewport, reducedMotion: 'reduce' } as const;
      const [stranger, member] = [await browser.newPage(settings), await browser.newPage(settings)];
      await member.page.goto(site);
      await signIn(member.page, shop.developer);
      await member.page.getByRole('heading', { name: 'Projects' }).waitFor();
      for (const screen of wanted) {
        const { page, problems } = screen.as === 'stranger' ? stranger : member;
        await page.goto(site + addressOf(screen, seeded));
        await page.locator('main h1').waitFor();
        await page.waitForLoadState('networkidle');
        await screen.act?.(page);
        // What an act has set going has begun by then.
        if (screen.act) await page.waitForTimeout(300);
        await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        // No picture shows a cursor, nor the place that is kept for a scroll bar.
        await page.evaluate("document.activeElement?.blur(); document.documentElement.style.scrollbarGutter = 'auto'");
        const picture = await take(page.context(), page);
        const name = pictureOf(screen.name, colorScheme, width);
        await writeFile(path.join(shownPictures.includes(name) ? shownFolder : folder, name), picture);
        bytes += picture.length;
        said.push(...problems.splice(0).map((problem) => `${screen.name}: ${problem}`));
      }
      console.log(`  ${styleText('dim', `${colorScheme}, ${width} px:`)} ${wanted.length} screens`);
    }
  }
  console.log(`${(bytes / 2 ** 20).toFixed(1)} MiB in .basalt/screenshots and docs/console`);
  for (const problem of said) console.error(styleText('red', problem, { stream: process.stderr }));
  if (said.length > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit();
