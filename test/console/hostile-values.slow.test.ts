import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { uploadFile } from '../support/fixtures/files.ts';
import { newUsersProject, type UsersProject, users } from '../support/fixtures/users.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: UsersProject;
let opened: OpenPage;
const ids = { document: '', user: '', template: '' };

const markup = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';
/** Reverses the text that follows it, because it is never closed. */
const turned = 'a\u202e\u2067gnp.exe';
const endless = 'x'.repeat(10_000);
const link = 'javascript:globalThis.ran=1';

/** Returns the id of a created resource. The dashboard wraps it in `data`, the data API does not. */
const idIn = ({ body }: { readonly body: unknown }): string => {
  const { _id, data } = body as { readonly _id?: string; readonly data?: { readonly _id: string } };
  const id = _id ?? data?._id;
  if (id === undefined) throw new Error(`answered ${JSON.stringify(body).slice(0, 300)}`);
  return id;
};

beforeAll(async () => {
  [browser, project] = await Promise.all([
    openChromium(),
    newUsersProject({
      collection: { ...users, schema: [...(users.schema ?? []), { key: 'note', type: 'String' }] },
      settings: { authEnabled: true, name: markup.slice(0, 100) },
    }),
  ]);
  const { developer, id, api, addCollection } = project;
  await addCollection({ name: `p${'osts_'.repeat(12)}`.slice(0, 60) });
  await addCollection({ name: 'posts' });
  const made = await api('POST', '/api/data/posts', {
    body: { markup, turned, endless, link, deep: { list: [markup, { turned }] }, [`k${'ey'.repeat(60)}`]: 1 },
  });
  ids.document = idIn(made);
  const trashed = idIn(await api('POST', '/api/data/posts', { body: { markup, turned, endless, link } }));
  await api('DELETE', `/api/data/posts/${trashed}`);
  const user = await project.newUser({ name: markup, note: endless, role: turned });
  ids.user = user.userId;
  await project.logIn(user, { 'user-agent': `${markup}${'y'.repeat(10_000)}` });
  await uploadFile(project, 'text', 'text/plain', { filename: `${turned}.txt` });
  const template = {
    name: markup.slice(0, 100),
    subject: `${turned} ${markup}`,
    html: markup,
    text: `${endless} ${link}`,
  };
  ids.template = idIn(await developer.dashboard('POST', `/api/projects/${id}/mail/templates`, template));
  await api('POST', '/api/mail/send', {
    body: { to: 'delivered@resend.dev', subject: template.subject, text: endless },
  });
  await developer.dashboard('PATCH', `/api/projects/${id}`, { name: turned });
  await developer.dashboard('PATCH', `/api/projects/${id}`, { name: markup.slice(0, 100) });
  opened = await openAs(browser, developer, '/');
});

afterAll(() => browser.close());

/** Returns whether a script ran, how many script links the page has, its width and its title. */
const stateOf = (page: Page) =>
  page.evaluate<{ readonly ran: boolean; readonly links: number; readonly width: number; readonly title: string }>(`({
    ran: globalThis.ran !== undefined,
    links: document.querySelectorAll('a[href^="javascript:" i], a[href^="data:" i]').length,
    width: document.documentElement.scrollWidth,
    title: document.title,
  })`);

describe('hostile content', () => {
  const screens: readonly (readonly [name: string, path: () => string, shown: string])[] = [
    ['the list of projects', () => '/', markup.slice(0, 100)],
    ['a list of documents', () => `/projects/${project.id}/documents/posts`, markup],
    ['a document', () => `/projects/${project.id}/documents/posts?open=${ids.document}`, 'globalThis.ran=1'],
    ['the trash', () => `/projects/${project.id}/documents/posts/trash`, 'globalThis.ran=1'],
    ['a filter', () => `/projects/${project.id}/documents/posts?markup_eq=${encodeURIComponent(markup)}`, markup],
    ['a list of users', () => `/projects/${project.id}/users`, '@example.com'],
    ['a user and their sessions', () => `/projects/${project.id}/users?open=${ids.user}`, markup],
    ['a list of files', () => `/projects/${project.id}/files`, 'gnp.exe'],
    ['the mail log', () => `/projects/${project.id}/mail/logs`, markup],
    ['a list of templates', () => `/projects/${project.id}/mail/templates`, markup],
    ['a template', () => `/projects/${project.id}/mail/templates?open=${ids.template}`, markup],
    ['settings', () => `/projects/${project.id}/settings/general`, 'App URL'],
    ['the audit trail', () => `/projects/${project.id}/settings/audit`, 'globalThis.ran=1'],
    ['requests by route', () => `/projects/${project.id}/usage`, 'Emails this month'],
    ['the API page', () => `/projects/${project.id}/api`, '/api/data/'],
  ];

  test.each(screens)(
    'is shown as text on %s and does not overflow a phone or a wide screen',
    async (_, path, shown) => {
      const { page, problems } = opened;
      await page.goto(`${inject('stack').dashboardUrl}${path()}`);
      await page.locator('main h1').waitFor();
      await page.getByText(shown).first().waitFor();
      await page.waitForLoadState('networkidle');
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        const state = await stateOf(page);
        expect(state).toMatchObject({ ran: false, links: 0, title: expect.stringMatching(/ · Basalt$/) });
        expect(state.width).toBeLessThanOrEqual(width);
      }
      expect(problems).toEqual([]);
    },
  );

  test('in an address shows the error of the service on the same screen when it is half a character', async () => {
    const { page, problems } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/posts?open=%ED%A0%BD`);
    await page.getByRole('alert').getByText('INVALID_ID').waitFor();
    await page.getByRole('gridcell', { name: 'gnp.exe' }).first().waitFor();
    expect(problems).toEqual([]);
  });

  test('does not reverse the text beside it, because each value is isolated', async () => {
    const { page } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/posts`);
    await page.getByRole('gridcell', { name: 'gnp.exe' }).first().waitFor();
    const bare = await page.evaluate<readonly string[]>(`[...document.querySelectorAll('body, body *')]
      .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && /[\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data)))
      .filter((element) => !/isolate|plaintext/.test(getComputedStyle(element).unicodeBidi))
      .map((element) => element.outerHTML.slice(0, 100))`);
    expect(bare).toEqual([]);
  });
});
