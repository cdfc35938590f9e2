import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { endWithNpm } from '../../infra/local/processes.ts';
import { startStack } from '../../infra/local/stack.ts';
import { openChromium, signIn } from '../../test/support/clients/chromium.ts';
import { exitWithUsage, readArguments } from '../read-arguments.ts';
import { addressOf, pictureOf, screens, shownPictures, themes, widths } from './screens.ts';
import { seed } from './seed.ts';
import { shop } from './shop.ts';

const root = path.resolve(import.meta.dirname, '../..');
const shownFolder = path.join(root, 'docs/console');
const folder = path.join(root, '.basalt/screenshots');

const heights: Readonly<Record<number, number>> = { 390: 844, 1440: 900 };

/** Takes a screenshot as WebP, which is half the size of PNG. */
const take = async (context: BrowserContext, page: Page): Promise<Buffer> => {
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 72 });
  await session.detach();
  return Buffer.from(data, 'base64');
};

const { positionals: names } = readArguments(
  `Usage: npm run screenshots -- [screen…]
Takes screenshots of the console, light and dark, for phones and wide screens. Writes those that the guides show into
docs/console and the others into .basalt/screenshots. Without names, takes all of these:
  ${screens.map(({ name }) => name).join(', ')}`,
  { allowPositionals: true },
);
const unknown = names.find((name) => !screens.some((screen) => screen.name === name));
if (unknown !== undefined)
  exitWithUsage(`Unknown screen ${unknown}. The screens are: ${screens.map(({ name }) => name).join(', ')}`);
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
/** By name, because browsers do not allow passkeys for an IP address. */
const site = stack.dashboardUrl.replace('127.0.0.1', 'localhost');
const browser = await openChromium();
try {
  const seeded = await seed(stack);
  await mkdir(folder, { recursive: true });
  let bytes = 0;
  const allProblems: string[] = [];
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
        // Requests that the action starts have begun by then.
        if (screen.act) await page.waitForTimeout(300);
        await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        // Hides the text cursor and the space for a scroll bar.
        await page.evaluate("document.activeElement?.blur(); document.documentElement.style.scrollbarGutter = 'auto'");
        const picture = await take(page.context(), page);
        const name = pictureOf(screen.name, colorScheme, width);
        await writeFile(path.join(shownPictures.includes(name) ? shownFolder : folder, name), picture);
        bytes += picture.length;
        allProblems.push(...problems.splice(0).map((problem) => `${screen.name}: ${problem}`));
      }
      console.log(`  ${styleText('dim', `${colorScheme}, ${width} px:`)} ${wanted.length} screens`);
    }
  }
  console.log(`${(bytes / 2 ** 20).toFixed(1)} MiB in .basalt/screenshots and docs/console`);
  for (const problem of allProblems) console.error(styleText('red', problem, { stream: process.stderr }));
  if (allProblems.length > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit();
