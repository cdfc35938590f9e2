import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { newSigningKey } from '../../../shared/accounts/tokens.ts';
import { controlIndexes } from '../../../shared/control-indexes.ts';
import { createProject } from '../../../shared/projects/create-project.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { hashApiKey } from '../../../shared/projects/project.ts';
import type { NewProject } from '../../../shared/projects/settings.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryMongo } from '../../support/fixtures/memory-mongo.ts';

const { state, all, insert } = useMemoryMongo(controlIndexes);
const ownerId = 'a'.repeat(24);
const { projects: maxProjects } = plans.free;
let signingKey: Awaited<ReturnType<typeof newSigningKey>>;

beforeEach(async () => {
  signingKey = await newSigningKey('any');
});

const create = (settings: Partial<NewProject> = {}, plan: 'free' | 'pro' = 'free') =>
  createProject({ id: ownerId, plan }, { name: 'Shop', ...settings }, async () => signingKey);
const slots = () => all('projects').flatMap(({ slot, ownerId: owner }) => (owner.equals(ownerId) ? slot : []));
const put = (rest: object) => {
  const _id = new ObjectId();
  insert('projects', { _id, ownerId: new ObjectId(ownerId), keys: [{ hash: _id }], state: 'active', slot: 0, ...rest });
};

describe('a new project', () => {
  test('has its keys as hashes, and only the settings that were sent', async () => {
    const { secretKey, publishableKey } = await create();
    const [record] = all('projects');
    expect(record?.keys.map(({ hash }: { hash: string }) => hash)).toEqual([publishableKey, secretKey].map(hashApiKey));
    for (const name of ['strictSessions', 'signIn', 'uploads']) expect(record).not.toHaveProperty(name);
    const settings = { signIn: { password: true }, uploads: { users: true }, strictSessions: true };
    await create(settings as Partial<NewProject>);
    expect(all('projects')[1]).toMatchObject(settings);
    await create({ strictSessions: false });
    expect(all('projects')[2]).not.toHaveProperty('strictSessions');
  });

  test('403 PLAN_LIMIT when the owner has as many as the plan allows', async () => {
    for (let count = 0; count < maxProjects; count++) await create();
    expect(await laterRefusalOf(create())).toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringContaining(`${maxProjects} projects`),
    });
    expect(slots().sort()).toEqual([0, 1, 2]);
    await create({}, 'pro');
    expect(all('projects')).toHaveLength(maxProjects + 1);
  });

  test('does not count those of other owners, and those that are being deleted', async () => {
    for (let slot = 0; slot < maxProjects; slot++) put({ ownerId: new ObjectId(), slot });
    for (let slot = 0; slot < maxProjects; slot++) put({ state: 'deleting', slot });
    for (let count = 0; count < maxProjects; count++) await create();
    expect(slots()).toHaveLength(2 * maxProjects);
  });

  test('is one of 50 that are created at the same time, and the plan is not exceeded', async () => {
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => create()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(maxProjects);
    expect(slots().sort()).toEqual([0, 1, 2]);
  });

  test('takes another slot when its own is taken meanwhile', async () => {
    put({ slot: 0 });
    put({ slot: 1 });
    state.before = { name: 'insert', act: async () => put({ slot: 2 }) };
    expect(await laterRefusalOf(create())).toMatchObject({ code: 'PLAN_LIMIT' });
    expect(slots()).toEqual([0, 1, 2]);
  });
});
