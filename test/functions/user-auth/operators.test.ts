import { beforeAll, describe, expect, test } from 'vitest';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;
let token: string;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true, secondFactor: 'optional' } } });
  ({ token } = await project.newUser());
});

const email = 'somebody@example.com';
const password = 'some password';
const otp = 'AAAA-AAAA';
const code = 'A'.repeat(64);

/** A valid body for each route; every field is a string. */
const bodies: readonly [string, string, Readonly<Record<string, string>>][] = [
  ['POST', 'signup', { email, password, name: 'Ann' }],
  ['POST', 'login', { email, password }],
  ['PUT', 'change-password', { currentPassword: password, newPassword: password }],
  ['POST', 'request-email-change', { email, password }],
  ['POST', 'change-email', { token: code }],
  ['POST', 'change-email', { email, otp }],
  ['DELETE', 'account', { password }],
  ['PUT', 'update-profile', { name: 'Ann', username: 'ann' }],
  ['POST', 'verify-email', { token: code }],
  ['POST', 'verify-email', { email, otp }],
  ['POST', 'anonymous/upgrade', { email, password }],
  ['POST', 'second-factor/totp/confirm', { code: otp }],
  ['DELETE', 'second-factor/totp', { code: otp, recoveryCode: otp }],
  ['POST', 'second-factor/recovery-codes', { code: otp, recoveryCode: otp }],
  ['POST', 'second-factor/verify', { ticket: code, code: otp, recoveryCode: otp }],
  ['POST', 'code', { email }],
  ['POST', 'code/verify', { token: code }],
  ['POST', 'code/verify', { email, code: otp }],
  ['POST', 'resend-verification-otp', { email }],
  ['POST', 'request-password-reset', { email }],
  ['POST', 'reset-password', { token: code, newPassword: password }],
  ['POST', 'reset-password', { email, otp, newPassword: password }],
];

const intruders: readonly [string, unknown][] = [
  ['{"$ne":null}', { $ne: null }],
  ['{"$regex":"."}', { $regex: '.' }],
  ['{"$gt":""}', { $gt: '' }],
  ['{"$where":"1"}', { $where: '1' }],
  ['{"$function":{}}', { $function: { body: 'return true', args: [], lang: 'js' } }],
  ['an array', [email]],
  ['an empty array', []],
  ['a nested object', { a: { b: email } }],
  ['a number', 12345678],
  ['true', true],
];

const fields = bodies.flatMap(([method, path, body]) =>
  Object.keys(body).map((field): [string, string, string, Readonly<Record<string, string>>] => [
    field,
    method,
    path,
    body,
  ]),
);

describe.each(fields)('400 for %s of %s %s being', (field, method, path, body) => {
  test.each(intruders)('%s', async (_name, intruder) => {
    const answer = await project.auth(method, path, { token, body: { ...body, [field]: intruder } });
    expect(answer).toMatchObject({
      status: 400,
      body: { success: false, code: 'VALIDATION_FAILED', errors: [{ field }] },
      cookies: [],
    });
  });
});

const routes = [...new Map(bodies.map((row) => [row[1], row])).values()];

describe.each(routes)('%s %s', (method, path) => {
  test.each<[string, unknown, string]>([
    ['a list', [{ email, password }], 'INVALID_BODY'],
    ['text', '"x"', 'INVALID_BODY'],
    ['null', 'null', 'INVALID_BODY'],
    ['nothing', '', 'INVALID_BODY'],
    ['broken JSON', '{"email":', 'INVALID_JSON'],
    ['a forbidden key', `{"email":"${email}","__proto__":{"password":"${password}"}}`, 'INVALID_BODY'],
    ['a lone surrogate', '{"email":"\\ud800"}', 'INVALID_BODY'],
  ])('400 for %s', async (_name, body, errorCode) => {
    const answer = await project.auth(method, path, { token, body });
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: errorCode }, cookies: [] });
  });

  test('413 for a body over 1 MiB', async () => {
    const answer = await project.auth(method, path, { token, body: { email: 'x'.repeat(1024 * 1024) } });
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });
});
