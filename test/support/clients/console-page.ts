import type { Page } from 'playwright-core';
import { inject } from 'vitest';
import type { Developer } from '../fixtures/project.ts';
import { type OpenPage, type openChromium, signIn } from './chromium.ts';

/** A signed-in console page at a path. */
export const openAs = async (
  browser: Awaited<ReturnType<typeof openChromium>>,
  developer: Pick<Developer, 'email' | 'password'>,
  path: string,
  options?: Parameters<typeof browser.newPage>[0],
): Promise<OpenPage> => {
  const opened = await browser.newPage(options);
  await opened.page.goto(`${inject('stack').dashboardUrl}${path}`);
  await signIn(opened.page, developer);
  await opened.page.getByTitle('Account').or(opened.page.getByRole('alert')).first().waitFor();
  return opened;
};

/** Makes the service report a schema assistant from the next load on; the tests' service has none. */
export const withAssistant = (page: Page): Promise<unknown> =>
  page.route('**/console.json', (route) => route.fulfill({ json: { api: inject('stack').baseUrl, assistant: true } }));

/** Confirms an action by typing the requested name. */
export const confirmAct = async (page: Page, act: string, name: string): Promise<void> => {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(name);
  await dialog.getByRole('button', { name: act, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};
