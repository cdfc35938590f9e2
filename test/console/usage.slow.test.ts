import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { clock } from '../../shared/core/clock.ts';
import { countUsage, flushTally } from '../../shared/usage/tally.ts';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
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
  test('shows the numbers of today, a chart of 30 days with errors, what came last, and links to details', async () => {
    const { page, problems } = opened;
    const requests = page.getByRole('link').filter({ hasText: 'Requests today' });
    await requests.waitFor();
    await expect.poll(() => requests.locator('strong').textContent()).toMatch(/^[1-9]/);
    const errors = page.getByRole('link').filter({ hasText: 'Errors today (4xx, 5xx)' });
    await expect.poll(() => errors.locator('strong').textContent()).toMatch(/^[1-9]/);
    const newest = page.locator('section').filter({ hasText: 'Newest document of each collection' });
    await newest.getByRole('link', { name: 'Hello' }).waitFor();
    const chart = page.getByRole('figure').filter({ hasText: 'Requests of 30 days' });
    const day = chart.getByRole('link', { name: `${dayBefore(3)}: 3, 1 errors` });
    expect(await day.getAttribute('href')).toBe(`/projects/${project.id}/usage?day=${dayBefore(3)}`);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'First steps' }).click();
    await page.getByText('Copy the publishable key').waitFor();
    await page.goBack();
    await requests.click();
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('usage page in the console', () => {
  test('shows 30 days, and each day links to its routes', async () => {
    const { page, problems } = opened;
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/usage`);
    await page.getByRole('link', { name: `${dayBefore(3)}: 3` }).click();
    await page.getByRole('cell', { name: 'GET /api/data/:collectionName' }).waitFor();
    await page.getByRole('cell', { name: '200: 2 · 500: 1' }).waitFor();
    expect(await page.getByLabel('Day (UTC)').inputValue()).toBe(dayBefore(3));
    expect(new URL(page.url()).search).toBe(`?day=${dayBefore(3)}`);
    await page.getByLabel('Day (UTC)').fill(dayBefore(9));
    await page.getByText('No requests on this day.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
