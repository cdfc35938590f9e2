import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provideDemo } from '../../infra/local/demo.ts';
import { startExample } from '../../infra/local/example.ts';
import { endWithNpm } from '../../infra/local/processes.ts';
import { startStack } from '../../infra/local/stack.ts';
import { openChromium } from '../../test/support/clients/chromium.ts';
import { readArguments } from '../read-arguments.ts';

const file = path.resolve(import.meta.dirname, '../../docs/start/board-light-1200.webp');

readArguments(
  `Usage: npm run screenshots:board
Takes the screenshot of the example app that the README shows: docs/start/board-light-1200.webp`,
  {},
);
endWithNpm();
const directory = await mkdtemp(path.join(tmpdir(), 'basalt-board-'));
const stack = await startStack({
  directory,
  port: 0,
  mongoUri: undefined,
  dynamoEndpoint: undefined,
  dashboardOrigins: [],
  files: undefined,
  liveUpdates: true,
  functions: { RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', USAGE_SECONDS: '0' },
  report: () => undefined,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const browser = await openChromium();
try {
  const demo = await provideDemo(undefined, stack.env.OPENID_ISSUER_URL ?? '');
  const { url } = await startExample(0, stack.baseUrl, demo, undefined);
  const settings = { viewport: { width: 1200, height: 560 }, reducedMotion: 'reduce' } as const;
  const [mia, noah] = [await browser.newPage(settings), await browser.newPage(settings)];
  for (const [{ page }, name] of [
    [mia, 'Mia Chen'],
    [noah, 'Noah Berg'],
  ] as const) {
    await page.goto(url);
    await page.getByRole('button', { name }).click();
    await page.getByText('Write the summer menu').waitFor();
  }
  await mia.page.getByText('Noah Berg is here').waitFor();
  const session = await mia.page.context().newCDPSession(mia.page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 72 });
  await writeFile(file, Buffer.from(data, 'base64'));
  console.log(`${path.relative(process.cwd(), file)}: ${Math.ceil((data.length * 3) / 4 / 1024)} KiB`);
} finally {
  await browser.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit();
