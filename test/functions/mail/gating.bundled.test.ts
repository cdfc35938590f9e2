import { beforeAll, describe, expect, test } from 'vitest';
import { audienceRoutes } from '../../../functions/mail/audiences/routes.ts';
import { broadcastRoutes } from '../../../functions/mail/broadcasts/routes.ts';
import { reserveQuota } from '../../../shared/mail/quota.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { newMailProject } from '../../support/fixtures/mail-project.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const id = '78261eea-8f8b-4381-83c6-79fa7120f1cf';
const parameters = { audienceId: id, contactId: id, id };
const bodies: Readonly<Record<string, unknown>> = {
  'create-audience': { name: 'Readers' },
  'create-contact': { email: 'a@b.cd' },
  'update-contact': { unsubscribed: true },
  'create-broadcast': { audienceId: id, subject: 'News', html: '<p>Hi</p>' },
};

const rows = (table: typeof audienceRoutes | typeof broadcastRoutes) =>
  Object.values(table).map((route) => ({
    name: route.id,
    method: route.method,
    path: route.path.replaceAll(/\{(\w+)\}/g, (_: string, name: string) => parameters[name as keyof typeof parameters]),
    body: bodies[route.id],
  }));

const audiences = rows(audienceRoutes);
const broadcasts = rows(broadcastRoutes);
type Row = (typeof audiences)[number];

const ask = (project: TestProject, { method, path, body }: Row) =>
  project.api(method, path, body === undefined ? {} : { body });

let sharedFree: TestProject;
let sharedPro: TestProject;
let ownFree: TestProject;
let ownPro: TestProject;

beforeAll(async () => {
  [sharedFree, sharedPro, ownFree, ownPro] = await Promise.all([
    newMailProject('free', null),
    newMailProject('pro', null),
    newMailProject('free'),
    newMailProject('pro'),
  ]);
});

const ownKeyRequired = { status: 403, body: { success: false, code: 'OWN_MAIL_KEY_REQUIRED' } };
const proRequired = { status: 403, body: { success: false, code: 'PRO_PLAN_REQUIRED' } };

describe('Free, shared key', () => {
  test.each([...audiences, ...broadcasts])('403 $name', async (row) => {
    expect(await ask(sharedFree, row)).toMatchObject(ownKeyRequired);
  });
});

describe('Pro, shared key', () => {
  test.each([...audiences, ...broadcasts])('403 $name', async (row) => {
    expect(await ask(sharedPro, row)).toMatchObject(ownKeyRequired);
  });
});

describe('Free with own key', () => {
  test.each(audiences)('$name passes to the provider', async (row) => {
    const { status, body } = await ask(ownFree, row);
    if (status !== 200 && status !== 201) expect(body.code).toBe('MAIL_PROVIDER_NOT_FOUND');
  });

  test.each(broadcasts)('403 $name', async (row) => {
    expect(await ask(ownFree, row)).toMatchObject(proRequired);
  });
});

describe('Pro with own key', () => {
  test.each([...audiences, ...broadcasts])('$name passes to the provider', async (row) => {
    const { status, body } = await ask(ownPro, row);
    if (status !== 200 && status !== 201) expect(body.code).toBe('MAIL_PROVIDER_NOT_FOUND');
  });
});

describe('Without the secret key', () => {
  test.each([...audiences, ...broadcasts])(
    '403 $name with the publishable key, 401 without a key',
    async ({ method, path, body }) => {
      const options = body === undefined ? {} : { body };
      expect(await ownPro.api(method, path, { ...options, key: ownPro.publishableKey })).toMatchObject({
        status: 403,
        body: { code: 'SECRET_KEY_REQUIRED' },
      });
      expect(await ownPro.api(method, path, { ...options, key: '' })).toMatchObject({
        status: 401,
        body: { code: 'API_KEY_MISSING' },
      });
    },
  );
});

describe('With the month’s quota used up', () => {
  test('429 for what sends; everything else works', async () => {
    const project = await newMailProject('pro');
    const account = { id: project.id, plan: 'pro' } as const;
    for (let left = plans.pro.mailsPerMonth; left > 0; left -= 100) {
      const ids = Array.from({ length: Math.min(100, left) }, (_, n) =>
        (left * 1000 + n).toString(16).padStart(24, '0'),
      );
      await reserveQuota(account, ids);
    }
    for (const row of broadcasts) {
      const sends = row.name === 'create-broadcast' || row.name === 'send-broadcast';
      const answer = await ask(project, row);
      expect([row.name, answer.body.code === 'MAIL_QUOTA_EXCEEDED']).toEqual([row.name, sends]);
      if (sends) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
  });
});
