import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { runScript } from '../support/clients/run-script.ts';
import { auth, type DashboardSignIn } from '../support/fixtures/developers.ts';

const run = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
  runScript('set-plan', args, settings);

const database = (): Record<string, string> => ({ MONGODB_URI: inject('stack').env.MONGODB_URI ?? '' });

test('npm run set-plan changes the plan of a developer', async () => {
  const email = `plan-${randomUUID()}@example.com`;
  const { body } = await auth<DashboardSignIn>('POST', 'register', { body: { email, password: 'correct horse' } });
  const plan = async () =>
    (await auth<{ data: { plan: string } }>('GET', 'me', { token: body.data.accessToken })).body.data.plan;
  expect(await plan()).toBe('free');
  expect(await run([email.toUpperCase(), 'pro'], database())).toMatchObject({ code: 0 });
  expect(await plan()).toBe('pro');
});

test('npm run set-plan fails when no developer has the address', async () => {
  const { code, text } = await run(['nobody@example.com', 'pro'], database());
  expect(text).toBe('No developer has this email address.\n');
  expect(code).toBe(1);
});

test.each([
  ['without a plan', ['me@example.com'], 2, /^The plan must be free or pro\.\nUsage: npm run set-plan/],
  ['with another plan', ['me@example.com', 'gold'], 2, /^The plan must be free or pro, not gold\.\nUsage: /],
  ['with an unknown option', ['me@example.com', 'pro', '--global'], 2, /--global[\s\S]*Usage: npm run set-plan/],
  [
    'without a database',
    ['me@example.com', 'pro'],
    2,
    /^MONGODB_URI is not set\. .*--local.*\nUsage: npm run set-plan/,
  ],
  [
    'without a local service',
    ['me@example.com', 'pro', '--local'],
    1,
    /^No service .* in \/nonexistent\. Start one: npm start/,
  ],
] as const)('npm run set-plan %s says how to fix it', async (_how, args, code, expected) => {
  const outcome = await run(args);
  expect(outcome.text).toMatch(expected);
  expect(outcome.code).toBe(code);
});
