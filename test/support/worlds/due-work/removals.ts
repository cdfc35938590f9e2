import { ObjectId } from 'mongodb';
import { handler as removeDevelopers } from '../../../../functions/jobs/remove-developers.ts';
import { handler as removeProjects } from '../../../../functions/jobs/remove-projects.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { deleteProject } from '../../../../shared/projects/change-project.ts';
import { breakDatabase, breakDeveloper } from '../../faults/broken.ts';
import { makeProject, newOwner } from '../operations/operation.ts';
import type { World } from '../operations/world.ts';
import { control, type DueWork, isGone } from './due-work.ts';

/** A collection `notes` whose record looks as if what it says of it had been cut short. */
const cutShort = async (world: World, change: Readonly<Record<string, unknown>>) => {
  const project = await makeProject(['notes']);
  const mine = { projectId: new ObjectId(project.id) };
  await control(world, 'collections').updateOne(mine, { $set: change });
  const database = world.at.mongo.db(`p_${project.id}`);
  const recordsWith = (more: object) => control(world, 'collections').countDocuments({ ...mine, ...more });
  return { database, recordsWith, breakIt: async () => breakDatabase(project.id) };
};

/** What the clock removes or tidies, record by record. */
export const removals: readonly DueWork[] = [
  {
    name: 'a deleted project',
    jobs: ['remove-projects'],
    hours: 2,
    add: async (world) => {
      const { id, owned } = await makeProject(['notes']);
      await deleteProject(await owned());
      return { done: () => isGone(world, 'projects', id), breakIt: async () => breakDatabase(id) };
    },
    run: removeProjects,
  },
  {
    name: 'a deleted developer',
    jobs: ['remove-developers'],
    hours: 2,
    add: async (world) => {
      const { id } = await newOwner();
      const deleted = { $set: { deletingSince: new Date(clock.now()) } };
      await control(world, 'developers').updateOne({ _id: new ObjectId(id) }, deleted);
      return { done: () => isGone(world, 'developers', id), breakIt: async () => breakDeveloper(id) };
    },
    run: removeDevelopers,
  },
  {
    name: 'a deletion of a collection that was cut short',
    jobs: ['remove-projects'],
    hours: 2,
    add: async (world) => {
      const deleting = { state: 'deleting', updatedAt: new Date(clock.now()) };
      const { database, recordsWith, breakIt } = await cutShort(world, deleting);
      const there = async () => (await database.listCollections({ name: 'notes' }).toArray()).length;
      return { done: async () => ((await recordsWith({})) > 0 ? 0 : 1 + (await there())), breakIt };
    },
    run: removeProjects,
  },
  {
    name: 'an edit of a collection that was cut short',
    jobs: ['remove-projects'],
    hours: 2,
    add: async (world) => {
      const { database, recordsWith, breakIt } = await cutShort(world, { editingSince: new Date(clock.now()) });
      const notes = database.collection('notes');
      await notes.createIndex({ a: 1 }, { name: 'basalt_left' });
      const left = async () => Number(await notes.indexExists('basalt_left'));
      return {
        done: async () => ((await recordsWith({ editingSince: { $exists: true } })) > 0 ? 0 : 1 + (await left())),
        breakIt,
      };
    },
    run: removeProjects,
  },
];
