import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { obstacles, openChromium, signIn } from '../support/clients/chromium.ts';
import { newProject } from '../support/worlds/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;

beforeAll(async () => {
  browser = await openChromium();
});

afterAll(() => browser.close());

describe('every screen', () => {
  const screens = [
    '',
    '/documents/posts',
    '/documents/posts/schema',
    '/documents/posts/indexes',
    '/documents/posts/trash',
    '/documents/posts/transfers',
    '/new-collection',
    '/users',
    '/files',
    '/mail/logs',
    '/mail/templates',
    '/mail/audiences',
    '/mail/broadcasts',
    '/mail/suppressions',
    '/usage',
    '/api',
    '/settings/general',
    '/settings/keys',
    '/settings/sign-in',
    '/settings/mail',
    '/settings/connections',
    '/settings/members',
    '/settings/audit',
  ];

  test.each(['light', 'dark'] as const)('has nothing in the way of anybody, in the %s', async (colorScheme) => {
    const { id, developer, api } = await newProject([{ name: 'posts' }]);
    // The overview of a project without one looks for it again and again.
    await api('POST', '/api/data/posts', { body: { title: 'Hello' } });
    const { page, problems } = await browser.newPage({ colorScheme });
    await page.goto(inject('stack').dashboardUrl);
    await signIn(page, developer);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.waitForLoadState('networkidle');
    const found: string[] = [];
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    for (const screen of screens) {
      asked.length = 0;
      await page.goto(`${inject('stack').dashboardUrl}/projects/${id}${screen}`);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      const twice = asked.filter((request, place) => asked.indexOf(request) !== place);
      found.push(...twice.map((request) => `${screen || '/'} makes twice: ${request}`));
      await page.setViewportSize({ width: 390, height: 844 });
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > 390) found.push(`${screen || '/'} is ${width} pixels wide on a phone`);
      await page.setViewportSize({ width: 1440, height: 900 });
      found.push(...(await obstacles(page)).map((obstacle) => `${screen || '/'} ${obstacle}`));
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });
});
