import { type Job, jobs, minutesOf } from '../../../functions/jobs/jobs.ts';
import { askAws } from './ask-aws.ts';
import { type Check, failed, ok } from './check.ts';

interface Rules {
  readonly Rules?: readonly { readonly Name: string; readonly State: string }[];
}

const expected = Object.values<Job>(jobs).filter((job) => minutesOf(job) !== undefined).length;

/** Whether the clock starts the jobs that it should. */
export const schedulesCheck: Check = {
  name: 'schedules',
  deployedOnly: true,
  run: async (target) => {
    const answer = await askAws(target, {
      service: 'events',
      contentType: 'application/x-amz-json-1.1',
      target: 'AWSEvents.ListRules',
      body: JSON.stringify({ NamePrefix: `${target.deployment}-Jobs-` }),
    });
    const { Rules: rules = [] } = JSON.parse(answer) as Rules;
    const off = rules.filter(({ State }) => State !== 'ENABLED').map(({ Name }) => Name);
    if (off.length > 0) return failed(`are off: ${off.join(', ')}`, 'Enable these rules (EventBridge, Rules).');
    if (rules.length >= expected) return ok(`${rules.length} jobs are started by the clock`);
    return failed(`${rules.length} of ${expected} are there`, 'Deploy the jobs stack again, which makes them.');
  },
};
