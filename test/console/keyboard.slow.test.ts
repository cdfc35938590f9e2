import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { en } from '../../console/text/en.ts';
import { type KeyedAct, keys, keyText } from '../../console/ui/keys.ts';
import { addressOf, screens } from '../../scripts/screenshots/screens.ts';
import { openChromium, signIn } from '../support/clients/chromium.ts';
import { consoleOrigin } from '../support/fixtures/passkeys.ts';
import { newProject } from '../support/fixtures/project.ts';
import { newShownProjects } from '../support/fixtures/shown-projects.ts';
import { newUsersProject } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

/**
 * Numbers the elements that Tab reaches and returns their HTML. Radio buttons are left out, because Tab reaches only
 * the checked one.
 */
const numbered = `(() => {
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')];
  const seen = all.filter((one) => !one.disabled && one.tabIndex >= 0 && one.type !== 'radio' &&
    one.checkVisibility({ visibilityProperty: true }));
  seen.forEach((one, at) => one.setAttribute('data-stop', at));
  return seen.map((one) => one.outerHTML.slice(0, 120));
})()`;

/** Returns the number of the focused element and whether its outline is hidden. */
const focused = `(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return { end: true };
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  return { stop: at.getAttribute('data-stop'), hidden: outlineStyle === 'none' || outlineWidth === '0px', html: at.outerHTML.slice(0, 120) };
})()`;

interface Focused {
  readonly end?: true;
  readonly stop: string | null;
  readonly hidden: boolean;
  readonly html: string;
}

/**
 * Presses Tab through a screen once and returns its problems: elements not reached, without an outline, or without an
 * end.
 */
const walk = async (page: Page): Promise<readonly string[]> => {
  const stops = await page.evaluate<readonly string[]>(numbered);
  const missing = new Set(stops.keys());
  const found: string[] = [];
  // The focus can start in the middle of a page, so the walk counts from one end to the next.
  let ends = 0;
  for (let presses = 0; presses < stops.length * 3 + 40; presses++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate<Focused>(focused);
    if (at.end) ends += 1;
    if (ends === 2) return [...found, ...[...missing].map((stop) => `is not reached: ${stops[stop]}`)];
    if (at.end || ends === 0) continue;
    if (at.stop !== null) missing.delete(Number(at.stop));
    if (at.hidden) found.push(`has no outline: ${at.html}`);
  }
  return [...found, 'has no end'];
};

/** Presses keys without a pause. True if the page handles the last key instead of the browser. */
const pressed = (combination: string): string => `${JSON.stringify(combination.split(' '))}.map((key) =>
  !document.body.dispatchEvent(new KeyboardEvent('keydown', {
    key: key.replace('mod+', ''), ctrlKey: key.startsWith('mod+'), bubbles: true, cancelable: true,
  }))).at(-1)`;

const signedIn = async (place: string) => {
  const { id, developer, secretKey } = await newProject([{ name: 'posts' }]);
  const { page } = await browser.newPage();
  await page.goto(`${inject('stack').dashboardUrl}/projects/${id}${place}`);
  await signIn(page, developer);
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  return { page, id, developer, secretKey };
};

describe('keyboard', () => {
  test('Tab reaches every control of every screen with a visible outline and leaves the page again', async () => {
    const { page } = await browser.newPage();
    const projects = await newShownProjects();
    await page.goto(consoleOrigin());
    await signIn(page, projects.developer);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    const found: string[] = [];
    for (const screen of screens) {
      const { name, as, act } = screen;
      // After an action, the focus starts at the element that was clicked.
      if (as === 'stranger' || act) continue;
      await page.goto(consoleOrigin() + addressOf(screen, projects));
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      found.push(...(await walk(page)).map((one) => `${name} ${one}`));
    }
    expect(found).toEqual([]);
  });

  test('each key of the help works on the pages where it applies, and no other key does anything', async () => {
    const { page, id, secretKey } = await signedIn('');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.waitFor();
    const named = async (of: string) => (await help.locator(of).allTextContents()).map((text) => text.trim());
    expect(await named('dt')).toEqual(Object.keys(keys).map((act) => keyText(act as KeyedAct)));
    expect(await named('dd')).toEqual(Object.keys(keys).map((act) => en.keyboard.acts[act as KeyedAct]));
    const unheard: string[] = [];
    for (const [act, combination] of Object.entries({ ...keys, none: 'x' })) {
      const made = await fetch(`${inject('stack').baseUrl}/api/data/posts`, {
        method: 'POST',
        headers: { 'x-api-key': secretKey },
        body: JSON.stringify({ title: act }),
      });
      const { _id } = (await made.json()) as { readonly _id: string };
      await page.goto(`${inject('stack').dashboardUrl}/projects/${id}/documents/posts?open=${_id}`);
      const edit = page.getByRole('button', { name: 'Edit', exact: true });
      await edit.waitFor();
      if (act === 'save') {
        await edit.click();
        await page.getByRole('textbox', { name: 'title' }).fill('Changed');
      }
      if ((await page.evaluate(pressed(combination))) !== true) unheard.push(act);
    }
    expect(unheard).toEqual(['none']);
  });

  test('⌘K opens a document by its id and runs the actions that have a key', async () => {
    const { page } = await signedIn('/documents/posts');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to' });
    await field.fill('0123456789abcdef01234567');
    await page.getByRole('option', { name: 'posts · 0123456789abcdef01234567' }).click();
    await page.getByRole('alert').getByText('DOCUMENT_NOT_FOUND').waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('new doc');
    await page.getByRole('option', { name: 'New document' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'New document' }).waitFor();
  });

  test('⌘K shows the number of matches, or that nothing matches', async () => {
    const { page } = await signedIn('/documents/posts');
    await page.keyboard.press('Control+k');
    const [field, said] = [page.getByRole('combobox', { name: 'Go to' }), page.getByRole('dialog').getByRole('status')];
    await field.fill('posts');
    await expect.poll(() => said.textContent()).toBe('5 shown');
    await page.keyboard.press('ArrowDown');
    const active = await field.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"][aria-selected="true"]`).textContent()).toBe('posts · Schema');
    await field.fill('no such place');
    await page.getByText('No matches').waitFor();
    expect(await field.getAttribute('aria-expanded')).toBe('false');
    expect(await field.getAttribute('aria-activedescendant')).toBeNull();
  });

  test('first Tab stop skips the navigation', async () => {
    const { page } = await signedIn('/users');
    await page.reload();
    await page.getByRole('button', { name: 'Turn on accounts' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Turn on accounts');
  });

  test('j and Enter open a user', async () => {
    const { page } = await browser.newPage();
    const project = await newUsersProject();
    const { email } = await project.newUser();
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/users`);
    await signIn(page, project.developer);
    await page.getByRole('link', { name: email }).waitFor();
    for (const key of ['j', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('region', { name: email }).waitFor();
  });

  test('j and Enter, or a click in the row, open a panel, and Escape closes it', async () => {
    const { page, id } = await signedIn('/mail/templates');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Welcome', exact: true });
    await panel.waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Welcome to {{siteName}}' }).click();
    await panel.waitFor();
    expect(new URL(page.url()).pathname).toBe(`/projects/${id}/mail/templates`);
  });

  test('arrows, Home and End move in a menu, and closing it returns the focus', async () => {
    const { page } = await signedIn('');
    const button = page.locator('.top button[popovertarget]').last();
    const isFocused = (name: string | RegExp) =>
      expect.poll(() => page.evaluate<string>('document.activeElement.textContent.trim()')).toMatch(name);
    await button.focus();
    await page.keyboard.press('ArrowDown');
    await isFocused(/^Account$/);
    await page.keyboard.press('ArrowUp');
    await isFocused(/^Sign out$/);
    await page.keyboard.press('Home');
    await isFocused(/^Account$/);
    await page.keyboard.press('End');
    await isFocused(/^Sign out$/);
    await page.keyboard.press('ArrowDown');
    await isFocused(/^Account$/);
    await page.keyboard.press('Escape');
    await isFocused(/▾$/);
    await page.locator('.menu:popover-open').waitFor({ state: 'detached' });
  });

  test('dialog opened from a menu returns the focus to the button of the menu', async () => {
    const { page } = await signedIn('/documents/posts');
    const button = page.getByRole('button', { name: 'Views ▾' });
    await button.focus();
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Views ▾');
  });

  test.each([
    ['Linux x86_64', 'Ctrl+K'],
    ['MacIntel', '⌘K'],
  ])('on %s the menu shows its keys as %s', async (platform, text) => {
    const { page } = await browser.newPage();
    await page.addInitScript(`Object.defineProperty(navigator, 'platform', { value: ${JSON.stringify(platform)} })`);
    const { developer } = await newProject();
    await page.goto(inject('stack').dashboardUrl);
    await signIn(page, developer);
    await page.getByRole('button', { name: `Go to ${text}`, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  });

  test('dialog returns the focus to the element that opened it', async () => {
    const { page } = await signedIn('/settings/general');
    const html = () => page.evaluate<string>('document.activeElement.outerHTML');
    const go = page.getByRole('button', { name: keyText('palette') });
    await go.focus();
    const before = await html();
    for (const key of ['Enter', 'Control+k', '?']) {
      await page.keyboard.press(key);
      await page.locator('dialog[open]').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      await expect.poll(html).toBe(before);
    }
  });
});
