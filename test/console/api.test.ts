import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'posts' }]);
  await project.api('POST', '/api/data/posts', { body: { title: 'Hello', text: '<b>bold</b>' } });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/api`);
});

afterAll(() => browser.close());

/** Opens a route of the list. */
const openCall = async (summary: string) => {
  await opened.page.getByRole('link', { name: summary }).click();
  const call = opened.page.getByRole('region', { name: summary }).filter({ has: opened.page.locator('form') });
  await call.waitFor();
  return call;
};

/** Runs a copied JavaScript snippet with these words replaced and returns its output. */
const run = (code: string, words: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const filled = Object.entries(words).reduce((text, [word, value]) => text.replaceAll(word, value), code);
    execFile(process.execPath, ['--input-type=module', '-e', filled], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });

describe('snippets of the API page', () => {
  const calls = [
    'create-document',
    'create-documents',
    'list-documents',
    'query-documents',
    'get-document',
    'update-document',
    'aggregate-documents',
    'get-schema',
    'delete-document',
  ];

  test.each([
    ['big', {}, 'secret'],
    ['members', {}, 'user'],
    ['orders', { at: '2026-01-31T12:00:00.000Z' }, 'secret'],
  ] as const)('run as copied for the collection %s when the keys are filled in', async (name, held, way) => {
    const sampleProject = await newProject([
      { name: 'big' },
      {
        name: 'members',
        schema: [{ key: 'note', type: 'String', required: true }],
        rls: { enabled: true, mode: 'private' },
        changes: true,
      },
      {
        name: 'orders',
        schema: [
          { key: 'at', type: 'Date', required: true },
          {
            key: 'lines',
            type: 'Array',
            items: { type: 'Object', fields: [{ key: 'sku', type: 'String', required: true }] },
          },
          { key: 'paid', type: 'Boolean', required: true },
        ],
      },
    ]);
    const user = '6743f0c2a91b5d0012ab34cd';
    const token = await sampleProject.tokenFor(user);
    const first = { ...held, paid: true, count: 4, ...(name === 'members' && { note: 'x', userId: user }) };
    const made = await sampleProject.api('POST', `/api/data/${name}`, { body: first });
    expect(made.status).toBe(201);
    const base = `/projects/${sampleProject.id}/api?in=javascript`;
    const { page, problems } = await openAs(browser, sampleProject.developer, base);
    const picker = page.getByLabel('Collection in the examples');
    await expect.poll(() => picker.inputValue()).toBe('big');
    await picker.selectOption(name);
    await expect.poll(() => new URL(page.url()).searchParams.get('collection')).toBe(name);
    const address = new URL(page.url());
    for (const call of name === 'members' ? [...calls.slice(0, -1), 'create-ticket', 'delete-document'] : calls) {
      address.searchParams.set('open', call);
      await page.goto(address.href);
      const code = (await page.locator('.api-call .snippet pre').textContent()) ?? '';
      if (call === 'create-document') expect(code).toContain(way === 'secret' ? 'SECRET_KEY' : 'ACCESS_TOKEN');
      const printed = await run(code, { SECRET_KEY: sampleProject.secretKey, ACCESS_TOKEN: token });
      expect(printed, `${call}: ${code}`).toMatch(/^20[01] /);
    }
    await page.goto(`${address.origin}${address.pathname}?in=python&collection=${name}&open=create-document`);
    const python = await page.locator('.api-call .snippet pre').textContent();
    expect(python).toMatch(/^# pip install requests\nimport requests\n/);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});

describe('API page', () => {
  test('sends a request with the project’s own names and key and shows the response as text', async () => {
    const { page, problems } = opened;
    const list = await openCall('List, filter, sort');
    await expect.poll(() => list.getByLabel('Path and query').inputValue()).toMatch(/^\/api\/data\/posts\?/);
    await list.getByLabel('Path and query').fill('/api/data/posts?fields=title,text');
    await list.getByRole('button', { name: 'Send GET' }).click();
    const answer = list.getByRole('region', { name: 'Response' });
    await answer.getByText('200', { exact: true }).waitFor();
    await answer.getByText('<b>bold</b>').waitFor();
    await answer.getByText(/content-type: application\/json/).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBe('list-documents');
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('shows its routes when the list of collections arrives late', async () => {
    const { page } = opened;
    const late = Promise.withResolvers<void>();
    await page.route('**/collections?*', async (route) => {
      await late.promise;
      await route.continue();
    });
    await page.goto(new URL(`/projects/${project.id}/api?open=list-documents`, page.url()).href);
    await page.getByRole('link', { name: 'dashboard API' }).waitFor();
    await page.locator('[aria-busy=true]').first().waitFor();
    late.resolve();
    const path = page.getByLabel('Path and query');
    await expect.poll(() => path.inputValue()).toMatch(/^\/api\/data\/posts\?/);
    await page.unroute('**/collections?*');
  });

  test('links to the description of the dashboard API', async () => {
    const { page } = opened;
    const [description] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'dashboard API' }).click(),
    ]);
    await description.getByText('"/api/projects/{projectId}/members"').waitFor();
    await description.close();
  });

  test('uses the secret key only while the page is open and does not store it', async () => {
    const { page, problems } = opened;
    const create = await openCall('Insert a document');
    await create.getByLabel('Body').fill('{"title": "From the page"}');
    await create.getByLabel('Secret key').fill(project.secretKey);
    await create.getByRole('button', { name: 'Send POST' }).click();
    await create.getByText('201', { exact: true }).waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).not.toContain(project.secretKey);
    expect(problems).toEqual([]);
  });

  test('asks for confirmation before it sends a request that deletes', async () => {
    const { page, problems } = opened;
    const remove = await openCall('Move a document to the trash');
    const { body } = await project.api<{ data: { items: { _id: string }[] } }>('GET', '/api/data/posts?title=Hello');
    await remove.getByLabel('Path and query').fill(`/api/data/posts/${body.data.items[0]?._id}`);
    await remove.getByRole('button', { name: 'Send DELETE' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type DELETE').fill('DELETE');
    await dialog.getByRole('button', { name: 'Send DELETE' }).click();
    await remove.getByRole('region', { name: 'Response' }).getByText('200', { exact: true }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('403 ORIGIN_NOT_ALLOWED shows a button that adds the missing origin', async () => {
    const { page, problems } = opened;
    const path = `/api/projects/${project.id}`;
    await project.developer.dashboard('PATCH', path, { allowedDomains: ['https://app.example.com'] });
    await page.goto(`${new URL(page.url()).origin}/projects/${project.id}/api?open=list-documents`);
    const list = page.locator('.api-call');
    await list.getByLabel('Path and query').fill('/api/data/posts');
    await list.getByRole('button', { name: 'Send GET' }).click();
    await list.getByText('ORIGIN_NOT_ALLOWED').waitFor();
    await list.getByRole('button', { name: 'Allow this page' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await project.developer.dashboard<{ data: { allowedDomains: string[] } }>('GET', path);
    expect(body.data.allowedDomains).toEqual(['https://app.example.com', new URL(page.url()).origin]);
    expect(problems).toEqual([]);
  });
});
