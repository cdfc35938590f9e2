import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { newSigningKey } from '../../../shared/accounts/tokens.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { deleteProject } from '../../../shared/projects/change-project.ts';
import { findOwnedProject, type OwnedProject } from '../../../shared/projects/find-project.ts';
import { rotateKey, rotateSigningKey } from '../../../shared/projects/keys.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { idOf } from '../../support/fixtures/members.ts';
import { newProject } from '../../support/fixtures/project.ts';

const stored = (id: string) =>
  onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) }));

const acts: readonly (readonly [string, (owned: OwnedProject) => Promise<unknown>])[] = [
  ['a key is rotated', (owned) => rotateKey(owned, 'secret', 0)],
  ['a signing key is rotated', (owned) => rotateSigningKey(owned, newSigningKey)],
  ['it is deleted once more', deleteProject],
];

describe('a project that is deleted between a read and the write', () => {
  test.each(acts)('404 PROJECT_NOT_FOUND when %s, and nothing changes', async (_what, act) => {
    const { id, developer } = await newProject();
    const owned = await findOwnedProject(await idOf(developer), id);
    expect((await developer.dashboard('DELETE', `/api/projects/${id}`)).status).toBe(202);
    const deleted = await stored(id);
    await expect(act(owned as OwnedProject)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' });
    expect(await stored(id)).toEqual(deleted);
  });
});
