import AxeBuilder from '@axe-core/playwright';
import chromium from '@sparticuz/chromium';
import { type BrowserContext, type Page, chromium as playwright } from 'playwright-core';

/** A page of a browser, and what went wrong in it so far: errors of its console, its scripts and its policy. */
export interface OpenPage {
  readonly page: Page;
  readonly problems: string[];
}

/** What pages of this test file have asked so far, without queries: `GET http://127.0.0.1:4100/api/projects`. */
export const askedOfApi = new Set<string>();

/** How long a step in a page may take, in ms: a busy machine takes its time. */
const stepMs = 120_000;

/** A real browser, which is unpacked from npm; nothing has to be installed for it. */
export const openChromium = async () => {
  // The package's own flags are for one page in a Lambda function: one process for all, and no policy of origins.
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const contexts: BrowserContext[] = [];
  return {
    /** A window of its own: nobody is signed in there. */
    newPage: async (options: Parameters<typeof browser.newContext>[0] = {}): Promise<OpenPage> => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      context.setDefaultTimeout(stepMs);
      contexts.push(context);
      context.on('request', (request) => {
        const { origin, pathname } = new URL(request.url());
        if (pathname.startsWith('/api/')) askedOfApi.add(`${request.method()} ${origin}${pathname}`);
      });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', ({ message }) => problems.push(message));
      page.on('console', (message) => {
        // The browser itself says so of each answer that is no success.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          problems.push(message.text());
        }
      });
      return { page, problems };
    },
    close: async (): Promise<void> => {
      await Promise.all(contexts.map((context) => context.close()));
      await browser.close();
    },
  };
};

/** What keeps people from using a screen, by rule and place; nothing where all is well. */
export const obstacles = async (page: Page): Promise<readonly string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
};

/** Fills in the sign-in page. */
export const signIn = async (
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
) => {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};
