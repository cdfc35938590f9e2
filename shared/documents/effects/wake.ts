import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { workQueueSettings } from '../../core/config.ts';
import { tryOrLog } from '../../core/log.ts';
import { requestIdNow } from '../../core/request.ts';
import { onProject } from '../../persistence/mongo.ts';
import { sendDelayed, wakeUps } from '../../persistence/wake.ts';
import type { Task } from '../../persistence/work-queue.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document } from '../document.ts';
import { afterwards } from '../store/joint-scope.ts';
import { pendingMailsOf } from './pending-mails.ts';

/** Queues the task `run-effects` of a collection. */
const queueEffects = async (key: string, seconds: number): Promise<void> => {
  const [projectId = '', collection = ''] = key.split(' ');
  const task: Task = { task: 'run-effects', projectId, collection, requestId: requestIdNow() };
  await sendDelayed(workQueueSettings().WORK_QUEUE_URL, JSON.stringify(task), seconds);
};

const wakeUp = wakeUps('Emails of effects wait for the schedule', queueEffects);

/** Emails of writes that can no longer be undone are released immediately. */
const release = async (project: Project, { name }: Collection, written: readonly Document[]): Promise<void> => {
  const ids = written.flatMap((document) => pendingMailsOf(document).map(({ id }) => id));
  const filter = { _id: { $in: written.map(({ _id }) => _id) } };
  const update = { $set: { '_effects.mails.$[mail].at': new Date(clock.now()) } };
  await tryOrLog('warn', { message: 'Emails of effects are a minute late', project: project.id }, () =>
    onProject(project, (db) =>
      db.collection(name).updateMany(filter, update, { arrayFilters: [{ 'mail.id': { $in: ids } }] }),
    ),
  );
};

/** After the commit, wakes the worker if written documents have emails to send. Without effects it sends no command. */
export const wakeForMails = async (
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  written: readonly Document[],
): Promise<void> => {
  const sending = written.filter((document) => pendingMailsOf(document).length > 0);
  if (sending.length === 0) return;
  await afterwards(async (scope) => {
    if (scope && !scope.isAtomic) await release(project, collection, sending);
    await wakeUp.wake(`${project.id} ${collection.name}`);
  });
};
