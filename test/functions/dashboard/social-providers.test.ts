import { generateKeyPairSync } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { open } from '../../../shared/projects/sealed.ts';
import { forEachProvider } from '../../../shared/projects/social/providers.ts';
import { inParallel } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const none = { enabled: false, clientId: null, hasClientSecret: false };
const secret = 'a-client-secret-0123456789';

/** Returns a project’s social providers with only these registrations. */
const withNone = (registered: Readonly<Record<string, object>>) => ({
  ...forEachProvider(() => none),
  apple: { enabled: false, clientId: null, teamId: null, keyId: null, hasPrivateKey: false },
  ...registered,
});

const pem = (kind: 'rsa' | 'P-256' | 'P-384' | 'public'): string => {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pkcs8).toString();
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: kind === 'P-384' ? kind : 'P-256' });
  return (kind === 'public' ? publicKey.export({ type: 'spki', format: 'pem' }) : privateKey.export(pkcs8)).toString();
};

interface Answer {
  readonly data: { readonly socialProviders: unknown };
  readonly code?: string;
  readonly message: string;
}

let project: TestProject;
beforeEach(async () => {
  project = await newProject();
});

const patch = (socialProviders: unknown) =>
  project.developer.dashboard<Answer>('PATCH', `/api/projects/${project.id}`, { socialProviders });
const shown = async () =>
  (await project.developer.dashboard<Answer>('GET', `/api/projects/${project.id}`)).body.data.socialProviders;
const stored = () =>
  onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(project.id) }));

describe('PATCH /api/projects/:projectId with socialProviders', () => {
  test('200 without the secret, which is stored encrypted and bound to its project and field', async () => {
    expect(await shown()).toEqual(withNone({}));
    const answer = await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
    const expected = withNone({ github: { enabled: true, clientId: 'id-1', hasClientSecret: true } });
    expect(answer).toMatchObject({ status: 200, body: { data: { socialProviders: expected } } });
    expect(answer.body.data.socialProviders).toEqual(expected);
    expect(await shown()).toEqual(expected);

    const record = await stored();
    expect(JSON.stringify(record)).not.toContain(secret);
    const sealed = record?.socialProviders?.github?.sealedClientSecret ?? '';
    expect(await open(sealed, `${project.id}/social/github`)).toBe(secret);
    await expect(open(sealed, `${project.id}/social/google`)).rejects.toThrow();
    await expect(open(sealed, project.id)).rejects.toThrow();
  });

  test('200 for Apple, whose secret is a private key; it is stored encrypted with its line breaks', async () => {
    const privateKey = pem('P-256');
    const ids = { clientId: 'com.example.app', teamId: 'TEAM123456', keyId: 'KEY1234567' };
    expect(await patch({ apple: { enabled: true, ...ids, privateKey: `\n${privateKey}\n` } })).toMatchObject({
      status: 200,
    });
    expect(await shown()).toEqual(withNone({ apple: { enabled: true, ...ids, hasPrivateKey: true } }));
    const record = await stored();
    expect(JSON.stringify(record)).not.toContain('PRIVATE KEY');
    const sealed = record?.socialProviders?.apple?.sealedClientSecret ?? '';
    expect(await open(sealed, `${project.id}/social/apple`)).toBe(privateKey.trim());
    for (const cleared of [{ teamId: null }, { keyId: null }, { privateKey: null }]) {
      expect(await patch({ apple: cleared })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    }
  });

  test('200 and only the given fields change', async () => {
    await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
    await patch({ google: { clientId: 'id-2' } });
    await patch({ github: { clientId: 'id-3' } });
    expect(await shown()).toEqual(
      withNone({
        github: { enabled: true, clientId: 'id-3', hasClientSecret: true },
        google: { enabled: false, clientId: 'id-2', hasClientSecret: false },
      }),
    );
    await patch({ github: { enabled: true } });
    expect(await shown()).toMatchObject({ github: { enabled: true, hasClientSecret: true } });
    await patch({ github: { enabled: false, clientSecret: null } });
    await patch({ google: { clientId: null } });
    expect(await shown()).toEqual(withNone({ github: { enabled: false, clientId: 'id-3', hasClientSecret: false } }));
  });

  test.each([{}, { github: {} }, { github: {}, google: {} }])('400 NOTHING_TO_UPDATE for %j', async (body) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { code: 'NOTHING_TO_UPDATE' } });
  });

  test.each<[unknown, string]>([
    [{ github: { enabled: true } }, 'socialProviders.github.clientId is required to enable the provider'],
    [
      { google: { enabled: true, clientId: 'a' } },
      'socialProviders.google.clientSecret is required to enable the provider',
    ],
    [
      { google: { enabled: true, clientId: 'a', clientSecret: null } },
      'socialProviders.google.clientSecret is required to enable the provider',
    ],
    [{ myspace: { enabled: false } }, 'socialProviders.myspace is not a known field'],
    [{ apple: { clientSecret: 'x' } }, 'socialProviders.apple.clientSecret is not a known field'],
    [{ github: { teamId: 'x' } }, 'socialProviders.github.teamId is not a known field'],
    [
      { apple: { enabled: true, clientId: 'a', teamId: 'b' } },
      'socialProviders.apple.keyId is required to enable the provider',
    ],
    [
      { apple: { enabled: true, clientId: 'a', teamId: 'b', keyId: 'c' } },
      'socialProviders.apple.privateKey is required to enable the provider',
    ],
    ...['x', pem('rsa'), pem('P-384'), pem('public')].map((privateKey): [unknown, string] => [
      { apple: { privateKey } },
      'socialProviders.apple.privateKey must be the private key from Apple: the complete text of the file AuthKey_….p8',
    ]),
    [{ github: { secret: 'x' } }, 'socialProviders.github.secret is not a known field'],
    [{ github: { sealedClientSecret: 'x' } }, 'socialProviders.github.sealedClientSecret is not a known field'],
    [{ github: { hasClientSecret: true } }, 'socialProviders.github.hasClientSecret is not a known field'],
    [{ github: { enabled: 'true' } }, 'socialProviders.github.enabled must be a Boolean'],
    [{ github: { clientId: { $ne: null } } }, 'socialProviders.github.clientId must be a String or null'],
    [{ github: { clientSecret: 5 } }, 'socialProviders.github.clientSecret must be a String or null'],
    [
      { github: { clientSecret: 'a b' } },
      'socialProviders.github.clientSecret must have 1 to 500 visible ASCII characters and no spaces',
    ],
    [
      { github: { clientId: '' } },
      'socialProviders.github.clientId must have 1 to 500 visible ASCII characters and no spaces',
    ],
    [{ github: null }, 'socialProviders.github must be an Object'],
    [{ github: [] }, 'socialProviders.github must be an Object'],
    [[], 'socialProviders must be an Object'],
    [null, 'socialProviders must be an Object'],
    ['github', 'socialProviders must be an Object'],
  ])('400 VALIDATION_FAILED for %j', async (body, message) => {
    expect(await patch(body)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: ${message}` },
    });
    expect(await shown()).toEqual(withNone({}));
  });

  test.each<['clientId' | 'clientSecret']>([['clientId'], ['clientSecret']])(
    '400 when %s is cleared while the provider is enabled, which stays unchanged',
    async (field) => {
      await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
      expect(await patch({ github: { [field]: null } })).toMatchObject({
        status: 400,
        body: { message: `Validation failed: socialProviders.github.${field} is required to enable the provider` },
      });
      expect(await shown()).toMatchObject({ github: { enabled: true, clientId: 'id-1', hasClientSecret: true } });
    },
  );

  test('200 or 400 when 50 concurrent requests enable the provider and clear its secret: never enabled without a secret', async () => {
    const complete = { clientId: 'id-1', clientSecret: secret };
    await patch({ github: { enabled: false, ...complete } });
    const answers = await inParallel(50, (n) =>
      patch({ github: n % 2 === 0 ? { enabled: true } : { clientSecret: null } }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    const after = await shown();
    expect([
      withNone({ github: { enabled: true, clientId: 'id-1', hasClientSecret: true } }),
      withNone({ github: { enabled: false, clientId: 'id-1', hasClientSecret: false } }),
    ]).toContainEqual(after);
  });
});
