import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { providerFor } from '../../../shared/mail/content.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { open } from '../../../shared/projects/sealed.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

interface Answer {
  readonly data: { readonly hasProviderApiKey: boolean; readonly providerFromEmail: string | null };
}

const key = 're_Abc_123';
const none = { hasProviderApiKey: false, providerFromEmail: null };

let project: TestProject;
beforeEach(async () => {
  project = await newProject();
});

const patch = (settings: unknown) =>
  project.developer.dashboard<Answer>('PATCH', `/api/projects/${project.id}`, settings);
const shown = async () => {
  const { body } = await project.developer.dashboard<Answer>('GET', `/api/projects/${project.id}`);
  const { hasProviderApiKey, providerFromEmail } = body.data;
  return { hasProviderApiKey, providerFromEmail };
};
const provider = async () => {
  forgetProjects();
  return providerFor(await domainProject(project));
};

describe('PATCH /api/projects/:projectId with email settings', () => {
  test('200 without the key, which is stored encrypted and bound to its project and field', async () => {
    expect(await shown()).toEqual(none);
    const answer = await patch({ providerApiKey: key });
    expect(answer).toMatchObject({ status: 200, body: { data: { hasProviderApiKey: true } } });
    expect(JSON.stringify(answer.body)).not.toContain(key);
    const record = await onControl((db) =>
      db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(project.id) }),
    );
    expect(JSON.stringify(record)).not.toContain(key);
    expect(await open(record?.sealedProviderApiKey ?? '', `${project.id}/mail-provider`)).toBe(key);
    await expect(open(record?.sealedProviderApiKey ?? '', project.id)).rejects.toThrow();
    expect(await provider()).toEqual({ apiKey: key, byok: true });
  });

  test('200, and null clears a setting; missing settings stay', async () => {
    await patch({ providerApiKey: key, providerFromEmail: ' Shop <shop@example.com> ' });
    expect(await shown()).toEqual({ hasProviderApiKey: true, providerFromEmail: 'Shop <shop@example.com>' });
    await patch({ name: 'renamed' });
    expect(await shown()).toEqual({ hasProviderApiKey: true, providerFromEmail: 'Shop <shop@example.com>' });
    await patch({ providerFromEmail: null });
    expect(await shown()).toEqual({ hasProviderApiKey: true, providerFromEmail: null });
    await patch({ providerApiKey: null });
    expect(await shown()).toEqual(none);
    expect(await provider()).toEqual({ apiKey: 're_local', byok: false });
  });

  const format = 'must begin with re_, followed by letters, digits and underscores';

  test.each<[object, string]>([
    [{ providerApiKey: '' }, `providerApiKey ${format}`],
    [{ providerApiKey: 're_' }, `providerApiKey ${format}`],
    [{ providerApiKey: 'sk_abc' }, `providerApiKey ${format}`],
    [{ providerApiKey: 'xre_abc' }, `providerApiKey ${format}`],
    [{ providerApiKey: 're_a-b' }, `providerApiKey ${format}`],
    [{ providerApiKey: 're_abc\n' }, `providerApiKey ${format}`],
    [{ providerApiKey: 're_abc\r\nX: 1' }, `providerApiKey ${format}`],
    [{ providerApiKey: `re_${'a'.repeat(500)}` }, 'providerApiKey must have at most 500 characters'],
    [{ providerApiKey: { $ne: null } }, 'providerApiKey must be a String or null'],
    [{ providerApiKey: 5 }, 'providerApiKey must be a String or null'],
    [
      { providerFromEmail: 'nobody' },
      'providerFromEmail must be an email address in ASCII (write a domain such as bücher.example as xn--bcher-kva.example), or Name <address>',
    ],
    [
      { providerFromEmail: '' },
      'providerFromEmail must be an email address in ASCII (write a domain such as bücher.example as xn--bcher-kva.example), or Name <address>',
    ],
    [
      { providerFromEmail: 'A\r\nBcc: b@example.org <a@example.com>' },
      'providerFromEmail must be an email address in ASCII (write a domain such as bücher.example as xn--bcher-kva.example), or Name <address>',
    ],
    [{ providerFromEmail: ['a@example.com'] }, 'providerFromEmail must be a String or null'],
    [{ hasProviderApiKey: true }, 'hasProviderApiKey is not a known field'],
    [{ sealedProviderApiKey: 'x' }, 'sealedProviderApiKey is not a known field'],
  ])('400 VALIDATION_FAILED for %j', async (settings, message) => {
    expect(await patch(settings)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: ${message}` },
    });
    expect(await shown()).toEqual(none);
  });
});
