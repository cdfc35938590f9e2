import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import { clock } from '../../shared/core/clock.ts';
import { AppError } from '../../shared/core/errors.ts';
import { securityRequired } from '../../shared/documents/access/access.ts';
import { flushRefusals, logRejected } from '../../shared/usage/rejected-requests.ts';
import { countUsage, flushTally } from '../../shared/usage/tally.ts';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

process.env.USAGE_SECONDS = '3600';

const userId = 'a'.repeat(24);
/** Yesterday, because today can end during the test. */
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

const reject = (error: AppError, requestId: string, more: Partial<Parameters<typeof logRejected>[0]> = {}) =>
  logRejected({
    projectId: project.id,
    error,
    method: 'POST',
    path: '/api/data/{collectionName}',
    key: 'publishable',
    userId: undefined,
    address: '192.0.2.1',
    requestId,
    collection: { name: 'posts', schema: null },
    sent: () => [],
    ...more,
  });

const invalid = new AppError('VALIDATION_FAILED', 'title is too long', {
  errors: [{ field: 'title', message: 'title is too long' }],
});

const addressOf = (query = ''): string => `${inject('stack').dashboardUrl}/projects/${project.id}/requests${query}`;

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'posts', schema: [{ key: 'title', type: 'String' }] }]);
  await reject(invalid, 'request-of-a-field');
  const byUser = { userId, method: 'PATCH', path: '/api/data/{collectionName}/{id}' };
  await reject(new AppError('RULE_DENIED', 'The rules of posts do not allow it.'), 'request-of-a-rule', byUser);
  await reject(new AppError('SECRET_KEY_REQUIRED', 'The route needs the secret key.'), 'request-of-a-key', {
    ...{ method: 'GET', path: '/api/mail/logs', collection: undefined },
  });
  await reject(securityRequired('posts'), 'request-of-a-write');
  await flushRefusals();
  opened = await openAs(browser, project.developer, `/projects/${project.id}/requests`);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => browser.close());

test('rejected requests are listed, and narrowed by code and user in the address', async () => {
  const { page, problems } = opened;
  const table = page.getByRole('region', { name: 'Rejected requests' });
  for (const code of ['400 VALIDATION_FAILED', '403 RULE_DENIED', '403 SECRET_KEY_REQUIRED', '403 RLS_REQUIRED'])
    await table.getByRole('link', { name: code }).waitFor();
  await page.getByLabel('Error code').fill('rule_denied');
  await page.getByLabel('Error code').press('Enter');
  await expect.poll(() => table.getByRole('link').count()).toBe(1);
  expect(new URL(page.url()).search).toBe('?code=RULE_DENIED');
  await page.getByRole('link', { name: 'Show all' }).click();
  await expect.poll(() => table.getByRole('link').count()).toBe(4);
  await page.goto(addressOf(`?user=${userId}`));
  await table.getByRole('link', { name: '403 RULE_DENIED' }).waitFor();
  expect(await table.getByRole('link').count()).toBe(1);
  await page.goto(addressOf('?code=NOT_OWNER'));
  await page.getByText('No rejected requests match this filter.').waitFor();
  expect(await obstacles(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test('an open request links to the field, rule or key to change, and can be copied without secrets', async () => {
  const { page, problems } = opened;
  const panelOf = (title: string) => page.getByRole('region', { name: title, exact: true });
  await page.goto(addressOf());
  await page.getByRole('link', { name: '400 VALIDATION_FAILED' }).click();
  const panel = panelOf('400 VALIDATION_FAILED');
  const curl = await panel.getByRole('region', { name: 'As curl' }).textContent();
  expect(curl).toContain(`${inject('stack').baseUrl}/api/data/posts`);
  expect(curl).toContain(project.publishableKey);
  expect(curl).toContain('{"title":"…"}');
  expect(await obstacles(page)).toEqual([]);
  await panel.getByRole('link', { name: 'Field title' }).click();
  await page.getByRole('heading', { name: 'posts', level: 1 }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('title');

  await page.goto(addressOf('?open=request-of-a-key'));
  const ofKey = panelOf('403 SECRET_KEY_REQUIRED');
  expect(await ofKey.getByRole('link', { name: 'Settings · Keys' }).getAttribute('href')).toBe(
    `/projects/${project.id}/settings/keys`,
  );

  await page.goto(addressOf('?open=request-of-a-write'));
  const ofWrite = panelOf('403 RLS_REQUIRED');
  await ofWrite.getByRole('link', { name: 'posts · Access · Signed-in users can write their own documents' }).waitFor();
  await ofWrite.getByRole('region', { name: 'As curl' }).waitFor();
  await ofWrite.getByRole('link', { name: 'From a server: send the secret key (Settings · Keys)' }).waitFor();
  const token = ofWrite.getByRole('link', { name: 'From an app: sign a user in, and send their access token' });
  expect(await token.getAttribute('href')).toBe(`/projects/${project.id}/api?open=sign-in`);
  expect(await ofWrite.getByRole('region', { name: 'As curl' }).textContent()).toContain('Bearer ACCESS_TOKEN');
  await ofWrite.getByText('Replace the placeholders').waitFor();
  await ofWrite.getByRole('link', { name: 'posts · Access · Signed-in users' }).click();
  const marked = page.getByRole('checkbox', { name: 'Signed-in users can write their own documents' });
  await expect.poll(() => marked.and(page.locator(':focus')).count()).toBe(1);

  await page.goto(addressOf('?open=request-of-a-rule'));
  const ofRule = panelOf('403 RULE_DENIED');
  const copied = await ofRule.getByRole('region', { name: 'As curl' }).textContent();
  expect(copied).toContain('/api/data/posts/ID');
  expect(copied).toContain('Bearer ACCESS_TOKEN');
  await ofRule.getByText('Replace the placeholders').waitFor();
  await ofRule.getByRole('link', { name: 'Try the rules' }).click();
  const operation = page.getByLabel('Request', { exact: true });
  await operation.waitFor();
  expect(await operation.inputValue()).toBe('update');
  await page.getByText(userId).waitFor();
  expect(problems).toEqual([]);
});

test('a request id that is not in the log shows what the log keeps', async () => {
  const { page } = opened;
  await page.goto(addressOf('?open=unknown'));
  await page.getByText('The log has no request unknown.').waitFor();
});

test('requests of a day are shown by hour, and an hour narrows the list', async () => {
  const { page, problems } = opened;
  vi.spyOn(clock, 'now').mockReturnValue(Date.parse(`${day}T05:30:00Z`));
  for (const status of [200, 404]) countUsage({ projectId: project.id, route: 'list-documents', status, ms: 12 });
  await flushTally();
  vi.restoreAllMocks();
  await page.goto(addressOf());
  await page.getByLabel('Day (UTC)').fill(day);
  await page.getByRole('link', { name: '05:00: 2, 1 errors' }).click();
  expect(await page.getByLabel('Since (UTC)').inputValue()).toBe(`${day}T05:00:00Z`);
  await page.getByRole('link', { name: '400 VALIDATION_FAILED' }).waitFor();
  expect(problems).toEqual([]);
});

test('a rejected request of the API page opens its entry', async () => {
  const { page, problems } = opened;
  await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/api?open=list-documents`);
  await page.getByLabel('Path and query').fill('/api/data/posts?limit=none');
  await page.getByRole('button', { name: 'Send GET' }).click();
  const link = page.getByRole('link', { name: 'Open in Requests' });
  await link.waitFor();
  const requestId = new URL((await link.getAttribute('href')) ?? '', page.url()).searchParams.get('open') ?? '';
  await reject(invalid, requestId);
  await flushRefusals();
  await link.click();
  await page.getByRole('region', { name: '400 VALIDATION_FAILED', exact: true }).getByText(requestId).waitFor();
  expect(problems).toEqual([]);
});
