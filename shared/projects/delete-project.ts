import { clock } from '../core/clock.ts';
import { changeProject } from './change-project.ts';
import type { OwnedProject } from './find-owned-project.ts';

/** From now on no look-up finds it or its keys, and its slot is free; `removeDeletedProjects` removes the rest. */
export const deleteProject = async (owned: OwnedProject): Promise<void> => {
  const now = new Date(clock.now());
  await changeProject(owned, { $set: { state: 'deleting', deletingSince: now, updatedAt: now } });
};
