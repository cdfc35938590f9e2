import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { runScript } from '../support/clients/run-script.ts';
import { logIn } from '../support/fixtures/developers.ts';

const run = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
  runScript('add-developer', args, settings);

const database = (): Record<string, string> => ({ MONGODB_URI: inject('stack').env.MONGODB_URI ?? '' });

test('npm run add-developer creates an account and prints its password, and fails when it exists', async () => {
  const email = `added-${randomUUID()}@example.com`;
  const { code, text } = await run([email], database());
  expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/^Created \S+\. .*: [\w-]{16}\n$/) });
  expect((await logIn(email, text.trim().split(' ').at(-1) ?? '')).status).toBe(200);
  expect(await run([email], database())).toMatchObject({ code: 1, text: expect.stringContaining('already exists') });
});

test.each([
  ['without an address', [], 2, /^The email address is missing\.\nUsage: npm run add-developer/],
  ['with two addresses', ['a@example.com', 'b@example.com'], 2, /^Give one email address only\.\nUsage: /],
  ['without a database', ['a@example.com'], 2, /^MONGODB_URI is not set\. .*--local.*\nUsage: npm run add-developer/],
  [
    'without a local service',
    ['a@example.com', '--local'],
    1,
    /^No service .* in \/nonexistent\. Start one: npm start/,
  ],
] as const)('npm run add-developer %s says how to fix it', async (_how, args, code, expected) => {
  const outcome = await run(args);
  expect(outcome.text).toMatch(expected);
  expect(outcome.code).toBe(code);
});
