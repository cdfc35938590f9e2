import { ObjectId } from 'mongodb';
import { noRowSecurity } from '../../../../shared/collections/collection.ts';
import { createCollection } from '../../../../shared/collections/create-collection.ts';
import { deleteCollection } from '../../../../shared/collections/delete-collection.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { connectDatabase, disconnectDatabase } from '../../../../shared/customer-database/connect.ts';
import { removeDeletedProjects } from '../../../../shared/deletion/projects.ts';
import { emptyTrash } from '../../../../shared/documents/store/empty-trash.ts';
import { runPurge } from '../../../../shared/documents/store/purge.ts';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { deleteProject } from '../../../../shared/projects/change-project.ts';
import { startExport } from '../../../../shared/transfers/export.ts';
import { startImport } from '../../../../shared/transfers/import.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { type ExportRecord, transferKey } from '../../../../shared/transfers/transfer.ts';
import { loadObject } from '../../clients/load-object.ts';
import { addTrashed, makePurgeDue, stored } from '../trash.ts';
import { newPerson } from './accounts.ts';
import { confirmed } from './files.ts';
import {
  makeProject,
  type Operation,
  type OwnProject,
  requireEqual,
  requireStatus,
  runOf,
  statusFor,
} from './operation.ts';
import type { World } from './world.ts';

const insert = async ({ owned }: OwnProject, name: string, count = 3): Promise<void> => {
  const documents = Array.from({ length: count }, (_, n) => ({ n, isDeleted: false, deletedAt: null }));
  await onProject((await owned()).project, (db) => db.collection(name).insertMany(documents));
};

const count = async ({ owned }: OwnProject, name: string): Promise<number> => stored((await owned()).project, name);

const importLines = '{"n":1}\n{"n":2}\nno JSON\n{"n":4}\n';

const transfersOf = async ({ at }: World, { id }: OwnProject) =>
  at.control('transfers', { projectId: new ObjectId(id) });

/** Longer than a deleted project is left alone. */
const quietMs = 13 * 60_000;

const afterQuiet = async (act: () => Promise<unknown>): Promise<void> => {
  const { now } = clock;
  clock.now = () => now() + quietMs;
  try {
    await act();
  } finally {
    clock.now = now;
  }
};

/** An export of three documents of so many characters each; parts are of 5 MiB. */
const exportOf = (name: string, length: number): Operation => ({
  name,
  prepare: async (world) => {
    const project = await makeProject(['notes']);
    const documents = [0, 1, 2].map((n) => ({ n, text: 'x'.repeat(length) }));
    await onProject(project.project, (db) => db.collection('notes').insertMany(documents));
    const { _id } = await startExport(project.project, 'notes', { format: 'ndjson', includeDeleted: false });
    return {
      projectIds: [project.id],
      act: () => runOf(() => runTransfer(_id)),
      verify: async () => {
        const [transfer] = await transfersOf(world, project);
        requireEqual('the export', transfer?.state, 'done');
        const bytes = await loadObject(transferKey(transfer as ExportRecord));
        const lines = new TextDecoder().decode(bytes).trimEnd().split('\n');
        const numbers = lines.map((line) => (JSON.parse(line) as { n: number }).n);
        requireEqual('its lines', numbers, [0, 1, 2]);
      },
    };
  },
});

export const dataOperations: readonly Operation[] = [
  {
    name: 'creation of a collection',
    prepare: async (world) => {
      const project = await makeProject(['first']);
      const act = (): Promise<number> => statusFor(() => createCollection(project.project, 'notes', { schema: null }));
      return {
        projectIds: [project.id],
        act,
        // A creation that was cut short keeps its name to itself for a moment.
        again: async () => requireStatus('a second creation', await act(), 200, 409, 503),
        verify: async () => {
          requireStatus('a later creation', await act(), 200, 409);
          await insert(project, 'notes');
          const indexes = await world.at.mongo.db(`p_${project.id}`).collection('notes').indexes();
          if (indexes.length < 2) throw new Error('Its indexes are missing');
        },
      };
    },
  },
  {
    name: 'deletion of a collection',
    prepare: async () => {
      const project = await makeProject(['first', 'notes']);
      await insert(project, 'notes');
      const act = (): Promise<number> => statusFor(() => deleteCollection(project.project, 'notes'));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second deletion', await act(), 200, 404),
        verify: async (done) => requireEqual('documents', await count(project, 'notes'), 0, ...(done ? [] : [3])),
      };
    },
  },
  {
    name: 'emptying of a trash',
    prepare: async () => {
      const project = await makeProject(['notes']);
      await insert(project, 'notes');
      await addTrashed(project.project, 'notes', 1100, 1);
      const act = (): Promise<number> =>
        statusFor(() => emptyTrash(project.project, { name: 'notes', rls: noRowSecurity }));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second emptying', await act(), 200),
        verify: async (done) => {
          const left = await count(project, 'notes');
          if (done) requireEqual('documents', left, 3);
          else requireEqual('documents', left, 3, 103, 1103);
        },
      };
    },
  },
  {
    name: 'purge of a trash',
    prepare: async () => {
      const project = await makeProject(['notes', 'posts']);
      for (const name of ['notes', 'posts']) {
        await insert(project, name);
        await addTrashed(project.project, name, 20, 31);
        await addTrashed(project.project, name, 2, 3);
      }
      await makePurgeDue(project.project);
      return {
        projectIds: [project.id],
        act: () => runOf(() => runPurge(project.id)),
        verify: async () => {
          requireEqual('documents', [await count(project, 'notes'), await count(project, 'posts')], [5, 5]);
        },
      };
    },
  },
  {
    name: 'deletion of a project',
    prepare: async (world) => {
      const project = await makeProject(['users', 'notes']);
      await insert(project, 'notes');
      await newPerson(project);
      await confirmed(project);
      const owned = await project.owned();
      let isDeleted = false;
      return {
        projectIds: [project.id],
        act: async () => {
          const status = await statusFor(() => deleteProject(owned));
          isDeleted = status === 200;
          if (isDeleted) await afterQuiet(() => runOf(removeDeletedProjects));
          return status;
        },
        again: async () => requireStatus('a second deletion', await statusFor(() => deleteProject(owned)), 200, 404),
        verify: async (done) => {
          const { length } = await world.at.control('projects', { _id: new ObjectId(project.id) });
          requireEqual('projects', length, 0, ...(done || isDeleted ? [] : [1]));
        },
      };
    },
  },
  {
    name: 'connection of a database',
    prepare: async (world) => {
      const project = await makeProject(['users', 'notes', 'posts'], 'pro');
      await insert(project, 'notes');
      const uri = world.ownUri(`own_${project.id}`);
      const owned = await project.owned();
      const act = (): Promise<number> => statusFor(() => connectDatabase(owned, uri));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second connection', await act(), 200),
        verify: async (done) => {
          const { kind } = (await project.owned()).project.placement;
          requireEqual('the place', kind, 'external', ...(done ? [] : ['managed']));
          const before = await count(project, 'notes');
          requireEqual('documents', before, kind === 'external' ? 0 : 3);
          await insert(project, 'notes');
          requireEqual('documents', await count(project, 'notes'), before + 3);
          const left = await world.at.mongo.db(`p_${project.id}`).collection('notes').countDocuments();
          requireEqual('documents in our database', left, kind === 'external' ? 3 : 6);
        },
      };
    },
    refusals: [400],
  },
  {
    name: 'disconnection of a database',
    prepare: async (world) => {
      const project = await makeProject(['users', 'notes', 'posts'], 'pro');
      await insert(project, 'notes');
      await connectDatabase(await project.owned(), world.ownUri(`own_${project.id}`));
      const owned = await project.owned();
      const act = (): Promise<number> => statusFor(() => disconnectDatabase(owned));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second disconnection', await act(), 200),
        verify: async (done) => {
          const { kind } = (await project.owned()).project.placement;
          requireEqual('the place', kind, 'managed', ...(done ? [] : ['external']));
          requireEqual('documents', await count(project, 'notes'), kind === 'managed' ? 3 : 0);
        },
      };
    },
  },
  {
    name: 'start of an import',
    prepare: async (world) => {
      const project = await makeProject(['notes']);
      let accepted = 0;
      const act = async (): Promise<number> => {
        const status = await statusFor(() =>
          startImport(project.project, 'notes', { format: 'ndjson', content: importLines }),
        );
        if (status === 200) accepted += 1;
        return status;
      };
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second import', await act(), 200, 409),
        verify: async () => {
          const transfers = await transfersOf(world, project);
          const ends = transfers.map(({ state, inserted, rejected }) => [state, inserted, rejected]);
          // One that was not accepted may be there without its file.
          for (const end of ends) requireEqual('an import', end, ['done', 3, 1], ['failed', 0, 0]);
          const { length } = ends.filter(([state]) => state === 'done');
          if (length < accepted) throw new Error('The import was lost');
          requireEqual('documents', await count(project, 'notes'), 3 * length);
        },
      };
    },
  },
  {
    name: 'run of an import',
    prepare: async (world) => {
      const project = await makeProject(['notes']);
      const { _id } = await startImport(project.project, 'notes', { format: 'ndjson', content: importLines });
      return {
        projectIds: [project.id],
        act: () => runOf(() => runTransfer(_id)),
        verify: async () => {
          for (const { state, inserted, rejected } of await transfersOf(world, project)) {
            requireEqual('the import', [state, inserted, rejected], ['done', 3, 1]);
          }
          requireEqual('documents', await count(project, 'notes'), 3);
        },
      };
    },
  },
  { ...exportOf('export', 3), faults: ['lose', 'blip', 'hang'] },
  // Each step takes a moment: what fails here in other ways fails there too.
  { ...exportOf('export in parts', 3_000_000), faults: ['crash'] },
];
