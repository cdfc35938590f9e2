import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCascades } from '../../../shared/documents/store/cascade-job.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { addMany } from '../../support/fixtures/many-documents.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

process.env.RATE_LIMIT = '0';

let made: TestProject;
let project: Project;

const ref = (key: string, target: string, onDelete: string) => ({ key, type: 'Ref', ref: target, onDelete });

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  made = await newProject([
    { name: 'posts' },
    { name: 'comments', schema: [ref('post', 'posts', 'trash'), ref('owned', 'posts', 'delete')] },
    { name: 'likes', schema: [ref('comment', 'comments', 'trash'), ref('kept', 'comments', 'delete')] },
  ]);
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Adds a post. One comment and its like follow it to the trash; another pair is deleted with it. */
const addPost = async (): Promise<string> => {
  const [post, comment, owned] = [new ObjectId(), new ObjectId(), new ObjectId()];
  await addMany(project, 'posts', 1, () => ({ _id: post, _rev: 1 }));
  await addMany(project, 'comments', 1, () => ({ _id: comment, post, of: post }));
  await addMany(project, 'comments', 1, () => ({ _id: owned, owned: post, of: post }));
  await addMany(project, 'likes', 1, () => ({ comment, of: post }));
  await addMany(project, 'likes', 1, () => ({ kept: owned, of: post }));
  return post.toHexString();
};

const statesOf = async (post: string): Promise<readonly string[]> => {
  const of = new ObjectId(post);
  const found = await onProject(project, async (db) => [
    ...(await db.collection('comments').find({ of }).toArray()),
    ...(await db.collection('likes').find({ of }).toArray()),
  ]);
  return found.map(({ isDeleted }) => (isDeleted === true ? 'trashed' : 'active'));
};
const stateOf = async (post: string): Promise<'active' | 'trashed' | 'gone'> => {
  const _id = new ObjectId(post);
  const found = await onProject(project, (db) => db.collection('posts').findOne({ _id }));
  if (!found) return 'gone';
  return found.isDeleted === true ? 'trashed' : 'active';
};

const call = (handler: Parameters<typeof invoke>[0], id: string, query = '') =>
  invoke(handler, { key: made.secretKey, params: { collectionName: 'posts', id }, query });

const all = ['active', 'active', 'active', 'active'];
const followed = {
  trash: { active: all, trashed: ['trashed', 'active', 'trashed', 'active'], gone: [] },
  delete: { active: all, trashed: [], gone: ['trashed', 'trashed'] },
  recover: { active: all, trashed: ['trashed', 'active', 'trashed', 'active'], gone: [] },
};

test.each([
  ['trash', deleteDocument, ''],
  ['delete', deleteDocument, 'permanent=true'],
  ['recover', restoreDocument, ''],
] as const)(
  'a %s killed at any of its steps applies to every reference or to no reference',
  async (kind, handler, query) => {
    const ends = new Set<string>();
    for (let changes = 0; ; changes++) {
      const post = await addPost();
      if (kind === 'recover') await call(deleteDocument, post);
      const killed = killAfter(changes);
      await call(handler, post, query).catch(() => undefined);
      vi.restoreAllMocks();
      for (const minutes of [10, 20]) {
        vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
        await runCascades(project.id);
        vi.restoreAllMocks();
      }
      const state = await stateOf(post);
      ends.add(state);
      expect(await statesOf(post), `killed before change ${changes}, ${killed.hit()}`).toEqual(followed[kind][state]);
      if (killed.hit() === undefined) break;
    }
    expect(ends.size).toBe(2);
  },
);
