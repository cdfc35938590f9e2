import { LambdaClient, paginateListEventSourceMappings } from '@aws-sdk/client-lambda';
import { type Job, jobs, queueStartOf } from '../../../functions/jobs/jobs.ts';
import { asking } from './asking.ts';
import { type Check, failed, ok } from './check.ts';

/** The jobs that messages of a queue start. */
const expected = Object.entries<Job>(jobs).flatMap(([name, job]) => (queueStartOf(job) ? [name] : []));

/** Whether Lambda takes messages off the queues. */
export const messagesCheck: Check = {
  name: 'delivery of messages',
  deployedOnly: true,
  run: async ({ functions, aws }) => {
    const own = new Set(functions.map(({ FunctionArn }) => FunctionArn));
    const states: string[] = [];
    await asking(new LambdaClient(aws), async (client) => {
      for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {})) {
        const mine = EventSourceMappings.filter(({ FunctionArn }) => own.has(FunctionArn));
        states.push(...mine.map(({ State = 'unknown' }) => State));
      }
    });
    const off = states.filter((state) => state !== 'Enabled');
    if (off.length === 0 && states.length >= expected.length) return ok(`${states.length} queues are listened to`);
    return failed(
      off.length > 0
        ? `a queue is not listened to: ${off.join(', ')}`
        : `${states.length} of ${expected.length} are there`,
      `Enable the trigger of ${expected.join(', ')} (Lambda, Triggers), or deploy the jobs stack again.`,
    );
  },
};
