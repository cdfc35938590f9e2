import type { SQSRecord } from 'aws-lambda';
import { throttled } from '../../shared/core/concurrency.ts';
import { isOurs } from '../../shared/core/errors.ts';
import { log, logFailure } from '../../shared/core/log.ts';
import { workFor } from '../../shared/core/request.ts';
import { removeIdleUsers } from '../../shared/deletion/users.ts';
import { runCollectionEffects } from '../../shared/documents/effects/run-effects.ts';
import { deleteFilesOfCollection } from '../../shared/documents/files.ts';
import { runCascades } from '../../shared/documents/store/cascade-job.ts';
import { runPurge } from '../../shared/documents/store/purge.ts';
import { delayTask, parseTask, type Task, workRetryDelay, workTries } from '../../shared/persistence/work-queue.ts';
import { runTransfer } from '../../shared/transfers/run-transfer.ts';
import { fromQueue } from '../from-queue.ts';

const run = async (task: Task): Promise<void> => {
  switch (task.task) {
    case 'purge-trash':
      await removeIdleUsers(task.projectId);
      return runPurge(task.projectId);
    case 'follow-references':
      return runCascades(task.projectId);
    case 'remove-files':
      return deleteFilesOfCollection(task.projectId, task.collection);
    case 'run-effects':
      return runCollectionEffects(task.projectId, task.collection);
    case 'transfer':
      return runTransfer(task.transferId);
  }
};

/** False returns the message to the queue. */
const isDone = async ({ body, receiptHandle, attributes }: SQSRecord): Promise<boolean> => {
  const task = parseTask(body);
  if (!task) {
    log.error({ job: 'run-task', message: 'The message is no task' });
    return true;
  }
  workFor(task.requestId);
  const start = performance.now();
  try {
    await run(task);
    log.info({ job: 'run-task', ...task, ms: Math.round(performance.now() - start) });
    return true;
  } catch (error) {
    logFailure({ job: 'run-task', ...task }, error);
    const tries = Number(attributes.ApproximateReceiveCount);
    // Failures of a customer's database are not ours, so they get no dead letter; the schedule retries them.
    if (!isOurs(error) && tries >= workTries) return true;
    await delayTask(receiptHandle, workRetryDelay(tries)).catch(() => undefined);
    return false;
  }
};

/** A failed task is retried later; after its last attempt it becomes a dead letter. */
export const handler = fromQueue((message) => throttled(() => isDone(message)));
