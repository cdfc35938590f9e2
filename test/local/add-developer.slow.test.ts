import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { runScript } from '../support/clients/run-script.ts';
import { logIn } from '../support/fixtures/developers.ts';

const run = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
  runScript('add-developer', args, settings);

const database = (): Record<string, string> => ({ MONGODB_URI: inject('stack').env.MONGODB_URI ?? '' });

test('npm run add-developer makes an account, once, and prints its password', async () => {
  const email = `added-${randomUUID()}@example.com`;
  const { code, text } = await run([email], database());
  expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/^\S+ has an account .*: [\w-]{16}\n$/) });
  expect((await logIn(email, text.trim().split(' ').at(-1) ?? '')).status).toBe(200);
  expect(await run([email], database())).toMatchObject({ code: 1, text: expect.stringContaining('already exists') });
});

test.each([
  ['without an address', [], 2, /^Usage: npm run add-developer/],
  ['with two', ['a@example.com', 'b@example.com'], 2, /^Usage: npm run add-developer/],
  ['without a database', ['a@example.com'], 2, /^MONGODB_URI is not set\.\nUsage: npm run add-developer/],
  ['without a local stack', ['a@example.com', '--local'], 1, /^There is no local stack in \/nonexistent\./],
] as const)('npm run add-developer %s says what to do', async (_how, args, code, said) => {
  const outcome = await run(args);
  expect(outcome.text).toMatch(said);
  expect(outcome.code).toBe(code);
});
