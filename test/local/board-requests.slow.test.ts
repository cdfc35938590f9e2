import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basalt } from '../../client/src/index.ts';
import { type Presence, presence } from '../../client/src/presence.ts';
import { exampleUsers } from '../../infra/local/example.ts';
import { loadDevFile, runningEnvironment } from '../../infra/local/state-files.ts';
import { findProjectByKey } from '../../shared/collections/find-project-by-key.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { addMany } from '../support/fixtures/many-documents.ts';

const members = 10_000;
const maxRequests = 6;

let directory: string;
let local: LocalStart;
let browser: Awaited<ReturnType<typeof openChromium>>;
let room: Presence | undefined;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-board-'));
  const settings = { BASALT_DIR: directory, PORT: String(await freePorts()) };
  local = localStart(settings, ['--example']);
  browser = await openChromium();
  await local.ready();
});

afterAll(async () => {
  room?.close();
  await browser.close();
  local.child.kill('SIGTERM');
  await local.ended;
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

test(`opening the board of ${members} members costs at most ${maxRequests} requests`, async () => {
  const dev = await loadDevFile(directory);
  if (!dev?.example || !dev.exampleUrl) throw new Error('The example does not run');
  Object.assign(process.env, await runningEnvironment(directory));
  const match = await findProjectByKey(dev.example.secretKey, '');
  if (!match) throw new Error('The project of the example cannot be found');

  const [mia, noah] = exampleUsers.users;
  const noahs = basalt(dev.baseUrl, dev.example.publishableKey);
  await noahs.auth.login({ email: noah?.email ?? '', password: exampleUsers.password });
  const workspace = (await noahs.collection('workspaces').list()).items[0]?._id ?? '';
  const people = Array.from({ length: members }, () => new ObjectId());
  await addMany(match.project, 'users', members, (index) => ({
    _id: people[index],
    email: `member-${index}@example.com`,
    password: '',
    name: `Member ${index}`,
  }));
  await addMany(match.project, 'memberships', members, (index) => ({
    workspace: new ObjectId(workspace),
    user: people[index],
    role: 'reader',
  }));
  const memberships = noahs.collection('memberships');
  expect(await memberships.count({ where: { workspace } })).toBe(members + exampleUsers.users.length);
  // Someone else is there, whose name the page looks up.
  const entered = Promise.withResolvers<void>();
  room = presence(noahs, { of: { collection: 'workspaces', id: workspace } }, () => entered.resolve());
  await entered.promise;

  const { page, problems } = await browser.newPage();
  const requests: string[] = [];
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    if (origin === dev.baseUrl && request.method() !== 'OPTIONS') requests.push(`${request.method()} ${pathname}`);
  });
  const isComplete = async (): Promise<void> => {
    await page.getByText('Write the summer menu').waitFor();
    await page.getByText(`${noah?.name} is here`).waitFor();
  };
  await page.goto(dev.exampleUrl);
  await page.getByRole('button', { name: mia?.name ?? '' }).click();
  await isComplete();

  const openings: string[][] = [];
  for (let opening = 0; opening < 3; opening++) {
    requests.length = 0;
    await page.reload();
    await isComplete();
    openings.push([...requests]);
  }
  // If the live connection takes over a second, the client also reads the feed, so the fewest requests count.
  const [fewest = []] = openings.toSorted((one, other) => one.length - other.length);
  expect(fewest.length).toBeGreaterThan(3);
  expect(fewest.length, fewest.join('\n')).toBeLessThanOrEqual(maxRequests);
  expect(problems).toEqual([]);
});
