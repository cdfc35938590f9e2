import { LambdaClient, paginateListEventSourceMappings } from '@aws-sdk/client-lambda';
import { type Job, jobs, minutesOf, queueStartOf } from '../../../functions/jobs/jobs.ts';
import { requestAws, withClient } from './aws-clients.ts';
import { type Check, failed, ok } from './check.ts';

const queueJobs = Object.entries<Job>(jobs).flatMap(([name, job]) => (queueStartOf(job) ? [name] : []));
const scheduledJobCount = Object.values<Job>(jobs).filter((job) => minutesOf(job) !== undefined).length;

/** Checks that Lambda reads the queues. */
export const queueTriggersCheck: Check = {
  name: 'queue triggers',
  deployedOnly: true,
  run: async ({ functions, aws }) => {
    const own = new Set(functions.map(({ FunctionArn }) => FunctionArn));
    const states: string[] = [];
    await withClient(new LambdaClient(aws), async (client) => {
      for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {})) {
        const mine = EventSourceMappings.filter(({ FunctionArn }) => own.has(FunctionArn));
        states.push(...mine.map(({ State = 'unknown' }) => State));
      }
    });
    const off = states.filter((state) => state !== 'Enabled');
    if (off.length === 0 && states.length >= queueJobs.length) return ok(`${states.length} are enabled`);
    return failed(
      off.length > 0 ? `not enabled: ${off.join(', ')}` : `${states.length} of ${queueJobs.length} exist`,
      `Enable the triggers of ${queueJobs.join(', ')} (Lambda, Triggers), or deploy the jobs stack again.`,
    );
  },
};

interface Rules {
  readonly Rules?: readonly { readonly Name: string; readonly State: string }[];
}

/** Checks that every scheduled job has its EventBridge rule. */
export const schedulesCheck: Check = {
  name: 'schedules',
  deployedOnly: true,
  run: async (target) => {
    const response = await requestAws(target, {
      service: 'events',
      contentType: 'application/x-amz-json-1.1',
      target: 'AWSEvents.ListRules',
      body: JSON.stringify({ NamePrefix: `${target.deployment}-Jobs-` }),
    });
    const { Rules: rules = [] } = JSON.parse(response) as Rules;
    const off = rules.filter(({ State }) => State !== 'ENABLED').map(({ Name }) => Name);
    if (off.length > 0) return failed(`disabled: ${off.join(', ')}`, 'Enable these rules (EventBridge, Rules).');
    if (rules.length >= scheduledJobCount) return ok(`${rules.length} jobs are scheduled`);
    return failed(`${rules.length} of ${scheduledJobCount} exist`, 'Deploy the jobs stack again; it creates them.');
  },
};
