import { ObjectId } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/jobs/remove-projects.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { removeDeletedProjects } from '../../../shared/deletion/projects.ts';
import { queueMail } from '../../../shared/mail/send.ts';
import { onTable } from '../../../shared/persistence/dynamo.ts';
import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Only for projects, because collections that other tests are creating would look abandoned. */
const later = (minutes: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
};

const domainProject = async ({ secretKey }: TestProject): Promise<Project> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  return match.project;
};

const addItems = (id: string, count: number) =>
  onTable((dynamo, table) =>
    dynamo.send('BatchWriteItem', {
      RequestItems: {
        [table]: Array.from({ length: count }, (_, index) => ({
          PutRequest: { Item: { pk: { S: `p#${id}` }, sk: { S: `session#${index}` } } },
        })),
      },
    }),
  );

/**
 * The job takes the oldest projects of all tests first. This one is not old enough for the tests’ own service, which
 * checks every few seconds, to remove it at the same time.
 */
const waitsLongest = (id: string) => {
  const deletingSince = new Date(Date.now() - 11 * 60_000);
  return onControl((db) => db.collection('projects').updateOne({ _id: new ObjectId(id) }, { $set: { deletingSince } }));
};

const addMail = (projectId: string) =>
  queueMail({ projectId, template: 'verification', to: 'a@example.com', variables: { code: 'A' }, siteName: 'Notes' });

const remains = async (project: Project) => ({
  projects: await onControl((db) => db.collection('projects').countDocuments({ _id: new ObjectId(project.id) })),
  records: await onControl((db) =>
    db.collection('collections').countDocuments({ projectId: new ObjectId(project.id) }),
  ),
  mails: await onControl((db) => db.collection('mailLogs').countDocuments({ projectId: new ObjectId(project.id) })),
  collections: (await onProject(project, (db) => db.listCollections().toArray())).length,
  items: await onTable(async (dynamo, table) => {
    const { Count } = await dynamo.send('Query', {
      TableName: table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: `p#${project.id}` } },
    });
    return Count;
  }),
});

const nothing = { projects: 0, records: 0, mails: 0, collections: 0, items: 0 };

describe('removing deleted projects', () => {
  test('202, then database, collections, emails, table items and record are deleted; other projects keep theirs', async () => {
    const [mine, other] = await Promise.all([
      newProject([{ name: 'posts' }, { name: 'notes' }]),
      newProject([{ name: 'posts' }]),
    ]);
    const [project, neighbour] = await Promise.all([domainProject(mine), domainProject(other)]);
    await mine.api('POST', '/api/data/posts', { body: { a: 1 } });
    await Promise.all([addItems(mine.id, 25), addItems(other.id, 1), addMail(mine.id), addMail(other.id)]);

    expect(await mine.developer.dashboard('DELETE', `/api/projects/${mine.id}`)).toMatchObject({
      status: 202,
      body: { success: true, data: { _id: mine.id } },
    });
    expect((await mine.developer.dashboard('GET', `/api/projects/${mine.id}`)).status).toBe(404);
    expect(await remains(project)).toMatchObject({ projects: 1, records: 2 });

    later(13);
    await waitsLongest(mine.id);
    await removeDeletedProjects();
    expect(await remains(project)).toEqual(nothing);
    expect(await remains(neighbour)).toEqual({ projects: 1, records: 1, mails: 1, collections: 1, items: 1 });
  });

  test('continues an interrupted removal', async () => {
    const mine = await newProject([{ name: 'posts' }]);
    const project = await domainProject(mine);
    await addItems(mine.id, 3);
    await mine.developer.dashboard('DELETE', `/api/projects/${mine.id}`);
    await onProject(project, (db) => db.dropDatabase());
    await onControl((db) => db.collection('collections').deleteMany({ projectId: new ObjectId(mine.id) }));
    later(13);
    await waitsLongest(mine.id);
    await Promise.all([removeDeletedProjects(), removeDeletedProjects()]);
    expect(await remains(project)).toEqual(nothing);
  });

  test('keeps a project that is in use', async () => {
    const mine = await newProject([{ name: 'posts' }]);
    const project = await domainProject(mine);
    later(60);
    await removeDeletedProjects();
    expect(await remains(project)).toMatchObject({ projects: 1, records: 1, collections: 1 });
  });
});

describe('removing collections whose creation or deletion was interrupted', () => {
  test.each(['creating', 'deleting'] as const)('%s: record and documents are deleted', async (state) => {
    const mine = await newProject([{ name: 'posts' }, { name: 'kept' }]);
    const project = await domainProject(mine);
    await onControl((db) =>
      db
        .collection('collections')
        .updateOne({ projectId: new ObjectId(mine.id), name: 'posts' }, { $set: { state, updatedAt: new Date(0) } }),
    );
    await eventually(async () => {
      await handler();
      expect(await remains(project)).toMatchObject({ records: 1, collections: 1 });
    });
  });
});
