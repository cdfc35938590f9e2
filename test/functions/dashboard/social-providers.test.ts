import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { onControl } from '../../../shared/clients/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project-record.ts';
import { open } from '../../../shared/projects/sealed.ts';
import { inParallel } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/worlds/project.ts';

const none = { enabled: false, clientId: null, hasClientSecret: false };
const secret = 'a-client-secret-0123456789';

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
  test('200, shown without the secret, which is stored sealed to its place', async () => {
    expect(await shown()).toEqual({ github: none, google: none });
    const answer = await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
    const expected = { github: { enabled: true, clientId: 'id-1', hasClientSecret: true }, google: none };
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

  test('200 and changes only what is given', async () => {
    await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
    await patch({ google: { clientId: 'id-2' } });
    await patch({ github: { clientId: 'id-3' } });
    expect(await shown()).toEqual({
      github: { enabled: true, clientId: 'id-3', hasClientSecret: true },
      google: { enabled: false, clientId: 'id-2', hasClientSecret: false },
    });
    await patch({ github: { enabled: true } });
    expect(await shown()).toMatchObject({ github: { enabled: true, hasClientSecret: true } });
    await patch({ github: { enabled: false, clientSecret: null } });
    await patch({ google: { clientId: null } });
    expect(await shown()).toEqual({
      github: { enabled: false, clientId: 'id-3', hasClientSecret: false },
      google: none,
    });
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
    [{ gitlab: { enabled: false } }, 'socialProviders.gitlab is not a known field'],
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
    expect(await shown()).toEqual({ github: none, google: none });
  });

  test.each<['clientId' | 'clientSecret']>([['clientId'], ['clientSecret']])(
    '400 for %s cleared while the provider is enabled, which stays as it is',
    async (field) => {
      await patch({ github: { enabled: true, clientId: 'id-1', clientSecret: secret } });
      expect(await patch({ github: { [field]: null } })).toMatchObject({
        status: 400,
        body: { message: `Validation failed: socialProviders.github.${field} is required to enable the provider` },
      });
      expect(await shown()).toMatchObject({ github: { enabled: true, clientId: 'id-1', hasClientSecret: true } });
    },
  );

  test('200 or 400, never enabled without a secret: 50 at once enable the provider and clear its secret', async () => {
    const complete = { clientId: 'id-1', clientSecret: secret };
    await patch({ github: { enabled: false, ...complete } });
    const answers = await inParallel(50, (n) =>
      patch({ github: n % 2 === 0 ? { enabled: true } : { clientSecret: null } }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    const after = await shown();
    expect([
      { github: { enabled: true, clientId: 'id-1', hasClientSecret: true }, google: none },
      { github: { enabled: false, clientId: 'id-1', hasClientSecret: false }, google: none },
    ]).toContainEqual(after);
  });
});
