import { randomBytes } from 'node:crypto';
import { Collection, Db, MongoServerError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { removeAbandonedCollections } from '../../../shared/collections/delete-collection.ts';
import { ensureControlIndexes } from '../../../shared/control-indexes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { removeDeletedDevelopers } from '../../../shared/deletion/developers.ts';
import { removeDeletedProjects } from '../../../shared/deletion/projects.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { deleteProject } from '../../../shared/projects/change-project.ts';
import { makeProject, newOwner, type OwnProject } from '../../support/fixtures/operations/operation.ts';

// A control database of its own: these jobs would find what other tests have in the shared one.
process.env.CONTROL_DATABASE = `control_${randomBytes(6).toString('hex')}`;

beforeAll(ensureControlIndexes);

afterEach(() => {
  vi.restoreAllMocks();
});

const refused = () => Promise.reject(new MongoServerError({ message: 'not authorized', code: 13 }));

describe('a removal that fails repeatedly', () => {
  test('other projects are removed when one removal fails repeatedly', async () => {
    const stuck: OwnProject[] = [];
    for (let count = 0; count < 20; count++) stuck.push(await makeProject());
    const good = await makeProject(['notes']);
    for (const project of [...stuck, good]) await deleteProject(await project.owned());
    const names = new Set(stuck.map(({ id }) => `p_${id}`));
    const { dropDatabase } = Db.prototype;
    vi.spyOn(Db.prototype, 'dropDatabase').mockImplementation(function drop(this: Db, ...options) {
      return names.has(this.databaseName) ? refused() : dropDatabase.apply(this, options);
    });

    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 13 * 60_000);
    expect(await removeDeletedProjects()).toBe(1);
    expect(await onControl((db) => db.collection('projects').countDocuments({ _id: new ObjectId(good.id) }))).toBe(0);
  });

  test('other collections are removed when one removal fails repeatedly', async () => {
    const [doomed, good] = [await makeProject(), await makeProject(['notes'])];
    const goodId = new ObjectId(good.id);
    const cut = { state: 'deleting', schema: null, updatedAt: new Date(0) };
    await onControl(async (db) => {
      const records = Array.from({ length: 50 }, (_, slot) => {
        const name = `c${slot}`;
        return { _id: new ObjectId(), projectId: new ObjectId(doomed.id), slot, name, nameKey: name, ...cut };
      });
      await db.collection('collections').insertMany(records);
      const later = { state: 'deleting', updatedAt: new Date(1) };
      await db.collection('collections').updateOne({ projectId: goodId }, { $set: later });
    });
    await deleteProject(await doomed.owned());

    await removeAbandonedCollections();
    expect(await onControl((db) => db.collection('collections').countDocuments({ projectId: goodId }))).toBe(0);
  });

  test('other developers are removed when one removal fails repeatedly', async () => {
    const ids: ObjectId[] = [];
    for (let count = 0; count < 21; count++) ids.push(new ObjectId((await newOwner()).id));
    const since = (index: number) => new Date(index);
    const developers = <T>(act: (of: Collection) => Promise<T>) => onControl((db) => act(db.collection('developers')));
    for (const [index, _id] of ids.entries()) {
      await developers((of) => of.updateOne({ _id }, { $set: { deletingSince: since(index) } }));
    }
    const stuck = new Set(ids.slice(0, 20).map(String));
    const { deleteMany } = Collection.prototype;
    vi.spyOn(Collection.prototype, 'deleteMany').mockImplementation(function remove(this: Collection, filter, options) {
      return stuck.has(String(filter?.developerId)) ? refused() : deleteMany.call(this, filter, options);
    });

    expect(await removeDeletedDevelopers()).toBe(1);
    expect(await developers((of) => of.countDocuments({ _id: ids[20] as ObjectId }))).toBe(0);
  });
});
