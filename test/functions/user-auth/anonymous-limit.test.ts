import { randomInt } from 'node:crypto';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as signUpAnonymously } from '../../../functions/user-auth/sign-up-anonymously.ts';
import { clock } from '../../../shared/core/clock.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

process.env.RATE_LIMIT = '1000000';
process.env.AUTH_RATE_LIMIT = '1000000';
process.env.CREDENTIAL_RATE_LIMIT = '1000000';

const settings = { signIn: { anonymous: true } };
let projects: readonly UsersProject[];

beforeAll(async () => {
  projects = await Promise.all([newUsersProject({ settings }), newUsersProject({ settings })]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const enterFrom = (sourceIp: string, n: number) =>
  invoke(signUpAnonymously, { key: projects[n % 2]?.publishableKey ?? '', sourceIp, method: 'POST' });

test('429 RATE_LIMITED for all except ten of 50 concurrent requests from one address, over all projects', async () => {
  // A new hour would allow ten more.
  vi.spyOn(clock, 'now').mockReturnValue(Date.now());
  const network = `2001:db8:${randomInt(0x10000).toString(16)}:${randomInt(0x10000).toString(16)}`;
  const answers = await inParallel(50, (n) => enterFrom(`${network}::${n}`, n));
  expect(tally(answers)).toEqual({ 201: 10, 429: 40 });
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ code: 'RATE_LIMITED' });
  expect((await enterFrom(`2001:db8:${randomInt(0x10000).toString(16)}:1::1`, 0)).status).toBe(201);
});
