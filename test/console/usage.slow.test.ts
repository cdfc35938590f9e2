import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { clock } from '../../shared/core/clock.ts';
import { flushRefusals } from '../../shared/usage/rejected-requests.ts';
import { countUsage, flushTally } from '../../shared/usage/tally.ts';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { invoke } from '../support/clients/invoke.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let opened: OpenPage;

process.env.USAGE_SECONDS = '3600';

const dayMs = 86_400_000;
/** All days are counted from here, because the day can end during the test. */
const begun = Date.now();
const dayBefore = (days: number): string => new Date(begun - days * dayMs).toISOString().slice(0, 10);

/** Counts responses of a route as if they were sent `daysAgo` days ago. */
const countThen = async (daysAgo: number, route: string, statuses: readonly number[]): Promise<void> => {
  vi.spyOn(clock, 'now').mockReturnValue(begun - daysAgo * dayMs);
  for (const status of statuses) countUsage({ projectId: project.id, route, status, ms: 12 });
  await flushTally();
  vi.restoreAllMocks();
};

beforeAll(async () => {
  browser = await openChromium();
  project = await newProject([{ name: 'posts' }]);
  await project.api('POST', '/api/data/posts', { body: { title: 'Hello' } });
  await countThen(3, 'list-documents', [200, 200, 500]);
  // Today and tomorrow, because the day can end before the page requests it.
  for (const daysAgo of [0, -1]) await countThen(daysAgo, 'get-document', [200, 404]);
  opened = await openAs(browser, project.developer, `/projects/${project.id}`);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => browser.close());

describe('overview of a project with documents', () => {
  test('shows the numbers of today with a chart of 30 days each, and links to their details', async () => {
    const { page, problems } = opened;
    const requests = page.getByRole('link').filter({ hasText: 'Requests today' });
    await requests.waitFor();
    await expect.poll(() => requests.locator('strong').textContent()).toMatch(/^[1-9]/);
    const line = await requests.getByRole('img').getAttribute('aria-label');
    expect(line).toContain(`${dayBefore(3)} 3`);
    const errors = page.getByRole('link').filter({ hasText: 'Errors today (4xx, 5xx)' });
    expect(await errors.getByRole('img').getAttribute('aria-label')).toContain(`${dayBefore(3)} 1`);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'First steps' }).click();
    await page.getByText('Copy the publishable key').waitFor();
    await page.goBack();
    await requests.click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('usage page in the console', () => {
  test('shows 30 days, and each day links to its routes', async () => {
    const { page, problems } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/usage`);
    await page.getByRole('link', { name: `${dayBefore(3)}: 3` }).click();
    await page.getByRole('cell', { name: 'list-documents' }).waitFor();
    await page.getByRole('cell', { name: '200: 2 · 500: 1' }).waitFor();
    expect(await page.getByLabel('Day (UTC)').inputValue()).toBe(dayBefore(3));
    expect(new URL(page.url()).search).toBe(`?day=${dayBefore(3)}`);
    await page.getByLabel('Day (UTC)').fill(dayBefore(9));
    await page.getByText('No requests on this day.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});

describe('rejected requests in the console', () => {
  test('are listed with their reason, and narrowed by a code', async () => {
    const { page, problems } = opened;
    process.env.USAGE_SECONDS = '3600';
    const refused = { key: project.secretKey, params: { collectionName: 'posts', id: '0'.repeat(24) } };
    await invoke(getDocument, refused);
    await invoke(getDocument, { ...refused, params: { collectionName: 'posts', id: 'nonsense' } });
    await flushRefusals();
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/usage`);
    await page.getByRole('cell', { name: '404 DOCUMENT_NOT_FOUND' }).waitFor();
    await page.getByRole('cell', { name: '400 INVALID_ID' }).waitFor();
    await page.getByLabel('Error code').fill('INVALID_ID');
    await expect.poll(() => page.getByRole('cell', { name: '404 DOCUMENT_NOT_FOUND' }).count()).toBe(0);
    await page.getByRole('cell', { name: '400 INVALID_ID' }).waitFor();
    await page.getByLabel('Error code').fill('RULE_DENIED');
    await page.getByText('No request was rejected').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
