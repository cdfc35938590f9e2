import { beforeAll, describe, expect, inject, test } from 'vitest';
import { jsonSchemaOf } from '../../shared/http/openapi/json-schema.ts';
import { call } from '../support/clients/client.ts';
import {
  dashboardCases,
  publicCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
} from '../support/data/route-cases.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

interface Described {
  readonly properties?: Readonly<Record<string, { readonly maxLength?: number; readonly format?: string }>>;
}

/** Returns the schema of the `email` field in a request body, if it has one. */
const addressIn = ({ route }: RouteCase) => route.body && (jsonSchemaOf(route.body) as Described).properties?.email;

const rows = [...publicCases, ...dashboardCases].filter((row) => addressIn(row) !== undefined);

let project: UsersProject;
let userToken: string;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true, anonymous: true } } });
  userToken = await project.tokenFor('a'.repeat(24));
});

const ofLength = (length: number): string => {
  const host = `@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example.com`;
  return 'a'.repeat(length - host.length) + host;
};

const send = ({ id, api, method, route, pathWith }: RouteCase, email: string) => {
  const { token: _token, ...sample } = (sampleBodies[id] ?? {}) as Record<string, unknown>;
  const isProof = id.includes('reset-') || id.includes('verify');
  const body = { ...sample, email, ...(isProof ? { otp: 'AAAA-AAAA' } : {}) };
  const path = pathWith({ ...sampleParameters, projectId: project.id });
  const { dashboardUrl, baseUrl } = inject('stack');
  if (api === 'dashboard') return call(dashboardUrl, method, path, { token: project.developer.token, body });
  const key = route.access === 'secretKey' ? project.secretKey : project.publishableKey;
  return call(baseUrl, method, path, { key, token: userToken, body });
};

test('routes with an email field limit it to 254 characters', () => {
  expect(rows.length).toBeGreaterThanOrEqual(19);
  for (const row of rows) expect(addressIn(row), row.id).toMatchObject({ format: 'email', maxLength: 254 });
});

const refused = {
  status: 400,
  body: {
    code: 'VALIDATION_FAILED',
    message:
      'Validation failed: email must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    errors: [
      {
        field: 'email',
        message:
          'email must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
      },
    ],
  },
};

describe.each(rows)('$method $id', (row) => {
  test.each([
    ['255 characters', ofLength(255)],
    // The smallest limit of a body is 16 KiB.
    ['15 000 characters', ofLength(15_000)],
    ['blanks that make it longer', `${ofLength(250)}     `],
  ])('400 VALIDATION_FAILED for an address of %s', async (_what, email) => {
    expect(await send(row, email)).toMatchObject(refused);
  });

  test('address of 254 characters passes the email check', async () => {
    const { body } = await send(row, ofLength(254));
    expect(body.message).not.toBe(refused.body.message);
  });
});

const asking = rows.filter(({ id }) => /^(request|resend)-/.test(id));

describe.each(asking)('$method $id, which sends an email', (row) => {
  test.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['a name', 'ann'],
    ['two addresses', 'a@example.com, b@example.com'],
  ])('400 VALIDATION_FAILED for %s instead of an address', async (_what, email) => {
    expect(await send(row, email)).toMatchObject(refused);
  });
});

test('five routes send an email to the address in the request', () => {
  expect(asking.length).toBe(5);
});
