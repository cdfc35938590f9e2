import type { Page } from 'playwright-core';
import { plugAuthenticator } from '../../test/support/clients/virtual-authenticator.ts';

/** A screen of the console. */
interface Screen {
  /** Prefix of the file names. */
  readonly name: string;
  /** Path below the project; with `//` at the beginning, below the site. */
  readonly path: string;
  /** Runs before the screenshot. */
  readonly act?: (page: Page) => Promise<void>;
  /** `stranger`: nobody is signed in. `beginner`: the empty project. */
  readonly as?: 'stranger' | 'beginner';
}

const press =
  (name: string) =>
  async (page: Page): Promise<void> => {
    await page.locator('main').getByRole('button', { name, exact: true }).first().click();
  };

const follow =
  (name: string) =>
  async (page: Page): Promise<void> => {
    await page.locator('main').getByRole('link', { name, exact: true }).first().click();
  };

/** Opens the first row of the list. */
const open =
  (what: 'tr' | 'tr a') =>
  async (page: Page): Promise<void> => {
    await page.locator(`main table tbody ${what}`).first().click();
    await page.getByRole('button', { name: 'Close' }).waitFor();
  };
const openRow = open('tr');

/** Opens the first file, as a tile or a row. */
const openFile = async (page: Page): Promise<void> => {
  await page.locator('main :is(.files, table) a').first().click();
  await page.getByRole('button', { name: 'Close' }).waitFor();
};

/** Shows the files as a list, and as a grid again on the next screen. */
const listFiles = async (page: Page): Promise<void> => {
  await press('List')(page);
  await page.locator('main table').first().waitFor();
  await page.evaluate("localStorage.removeItem('basalt:files-view')");
};

/** Opens a document for editing, as a form or as JSON. */
const edit =
  (tab: string) =>
  async (page: Page): Promise<void> => {
    await openRow(page);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('link', { name: tab, exact: true }).click();
  };

/** Shows the setup of an authenticator app. */
const setUpApp = async (page: Page): Promise<void> => {
  await press('Set up an authenticator app')(page);
  await page.getByRole('button', { name: 'Confirm', exact: true }).waitFor();
  await page.evaluate("document.querySelector('.qr-code').scrollIntoView({ block: 'center' })");
};

/** Adds passkeys that do not exist yet, each from a device of its own. */
const addPasskeys = async (page: Page): Promise<void> => {
  const device = await plugAuthenticator(page);
  const section = page.locator('section', { has: page.getByRole('heading', { name: 'Passkeys' }) });
  for (const name of ['Work laptop', 'Phone']) {
    const row = section.getByRole('cell', { name });
    if ((await row.count()) > 0) continue;
    await page.getByLabel('Name of the new passkey').fill(name);
    await press('Add a passkey')(page);
    await row.waitFor();
    await page.locator('.toasts').getByRole('button', { name: 'Close' }).click();
    await device.forget();
  }
  await page.evaluate("document.querySelector('main table').scrollIntoView({ block: 'center' })");
};

/** Every screen of the console. */
export const screens: readonly Screen[] = [
  { name: 'sign-in', path: '//sign-in', as: 'stranger' },
  { name: 'sign-in-by-code', path: '//auth/code', as: 'stranger' },
  { name: 'sign-up', path: '//sign-up', as: 'stranger' },
  { name: 'reset-password', path: '//reset-password', as: 'stranger' },
  { name: 'projects', path: '//' },
  { name: 'account', path: '//account' },
  { name: 'second-factor', path: '//account', act: setUpApp },
  { name: 'passkeys', path: '//account', act: addPasskeys },
  { name: 'first-steps', path: '', as: 'beginner' },
  { name: 'overview', path: '' },
  { name: 'documents', path: '/documents/plants' },
  {
    name: 'filter',
    path: `/documents/plants?where=${encodeURIComponent('{"price":{"$lt":30},"$or":[{"tags":"shade"},{"stock":{"$gte":20}}]}')}&sort=-price`,
    act: press('price < 30'),
  },
  { name: 'view-as', path: '/documents/plants?as=publishable', act: openRow },
  { name: 'document', path: '/documents/plants', act: openRow },
  { name: 'document-form', path: '/documents/plants', act: edit('Form') },
  { name: 'document-json', path: '/documents/plants', act: edit('JSON') },
  { name: 'insert', path: '/documents/plants', act: press('Insert') },
  { name: 'aggregate', path: '/documents/plants/aggregate', act: press('Run') },
  { name: 'schema', path: '/documents/plants/schema' },
  { name: 'access', path: '/documents/orders/access' },
  { name: 'effects', path: '/documents/orders/effects', act: press('Run') },
  { name: 'access-overview', path: '/access' },
  { name: 'indexes', path: '/documents/plants/indexes' },
  { name: 'trash', path: '/documents/plants/trash' },
  { name: 'transfers', path: '/documents/plants/transfers' },
  { name: 'new-collection', path: '/new-collection' },
  { name: 'users', path: '/users' },
  { name: 'user', path: '/users', act: openRow },
  { name: 'files', path: '/files' },
  { name: 'files-none', path: '/files', as: 'beginner' },
  { name: 'files-folder', path: '/files?folder=orders' },
  { name: 'file', path: '/files', act: openFile },
  { name: 'files-list', path: '/files', act: listFiles },
  { name: 'mail-logs', path: '/mail/logs' },
  { name: 'mail-templates', path: '/mail/templates' },
  { name: 'mail-audiences', path: '/mail/audiences' },
  { name: 'mail-broadcasts', path: '/mail/broadcasts' },
  { name: 'mail-suppressions', path: '/mail/suppressions' },
  { name: 'requests', path: '/requests' },
  { name: 'request', path: '/requests', act: open('tr a') },
  { name: 'usage', path: '/usage' },
  { name: 'api', path: '/api' },
  { name: 'api-call', path: '/api?open=create-document&collection=plants' },
  { name: 'settings-general', path: '/settings/general' },
  { name: 'settings-keys', path: '/settings/keys' },
  { name: 'settings-sign-in', path: '/settings/sign-in' },
  { name: 'settings-provider', path: '/settings/sign-in', act: follow('Google') },
  { name: 'settings-new-provider', path: '/settings/sign-in', act: follow('Add provider') },
  { name: 'settings-mail', path: '/settings/mail' },
  { name: 'settings-connections', path: '/settings/connections' },
  { name: 'settings-webhooks', path: '/settings/webhooks', act: press('New webhook') },
  { name: 'settings-webhook', path: '/settings/webhooks', act: open('tr a') },
  { name: 'settings-members', path: '/settings/members' },
  { name: 'settings-audit', path: '/settings/audit' },
];

/** The project with the collections `plants` and `orders`, and the empty one of a beginner. */
interface ShownProjects {
  readonly full: string;
  readonly empty: string;
}

/** The path of a screen below the site. */
export const addressOf = ({ path, as }: Screen, { full, empty }: ShownProjects): string => {
  if (path.startsWith('//')) return path.slice(1);
  return `/projects/${as === 'beginner' ? empty : full}${path}`;
};

export const themes = ['light', 'dark'] as const;
export const widths = [390, 1440] as const;

export const pictureOf = (name: string, theme: string, width: number): string => `${name}-${theme}-${width}.webp`;

/** The screenshots that the guides show, in docs/console. */
export const shownPictures: readonly string[] = ['document-light-1440.webp', 'overview-light-1440.webp'];
