import type { SQSRecord } from 'aws-lambda';
import { throttled } from '../../shared/core/concurrency.ts';
import { isOurs } from '../../shared/core/errors.ts';
import { log, logFailure, workFor } from '../../shared/core/log.ts';
import { removeIdleUsers } from '../../shared/deletion/users.ts';
import { runPurge } from '../../shared/documents/store/purge.ts';
import { delayTask, parseTask, type Task, workRetryDelay, workTries } from '../../shared/persistence/work-queue.ts';
import { runTransfer } from '../../shared/transfers/run-transfer.ts';
import { fromQueue } from '../from-queue.ts';

const run = async (task: Task): Promise<void> => {
  switch (task.task) {
    case 'purge-trash':
      await removeIdleUsers(task.projectId);
      return runPurge(task.projectId);
    case 'transfer':
      return runTransfer(task.transferId);
  }
};

/** True where the message is done with; false where it is to come again. */
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
    // What a project's own database keeps from being done is no dead letter of ours: the clock finds it again.
    if (!isOurs(error) && tries >= workTries) return true;
    await delayTask(receiptHandle, workRetryDelay(tries)).catch(() => undefined);
    return false;
  }
};

/**
 * Does the tasks that the work queue hands out; one that fails comes again later, and after its last try goes to the
 * dead letters.
 */
export const handler = fromQueue((message) => throttled(() => isDone(message)));
