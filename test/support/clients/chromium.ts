import AxeBuilder from '@axe-core/playwright';
import chromium from '@sparticuz/chromium';
import { type BrowserContext, type Page, chromium as playwright } from 'playwright-core';

/** A browser page and its problems: console, script and policy errors. */
export interface OpenPage {
  readonly page: Page;
  readonly problems: string[];
}

/** Timeout of a step in ms, generous for a busy machine. */
const stepMs = 120_000;

/** A real browser from an npm package, so nothing must be installed. */
export const openChromium = async () => {
  // The package's own flags are for Lambda: a single process without origin checks.
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const contexts: BrowserContext[] = [];
  return {
    /** A new window without a session. */
    newPage: async (options: Parameters<typeof browser.newContext>[0] = {}): Promise<OpenPage> => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      context.setDefaultTimeout(stepMs);
      contexts.push(context);
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', ({ message }) => problems.push(message));
      page.on('console', (message) => {
        // The browser logs this for every error response.
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

/** Accessibility problems of a page, by rule and place. */
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
