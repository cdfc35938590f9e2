import { Duration } from 'aws-cdk-lib/core';
import type { QueueName } from '../../../functions/jobs/jobs.ts';
import { queueLimits } from '../../stacks/queue-limits.ts';
import type { QueuePair } from '../../stacks/queue-stack.ts';
import type { AlarmDefinition } from './alarm-definition.ts';

interface Work {
  readonly givenUp: string;
  readonly late: string;
  /** What to do about those that were given up. */
  readonly help: string;
  /** After so many minutes in the queue something is late. */
  readonly lateMinutes: number;
}

const works: Readonly<Record<QueueName, Work>> = {
  mail: {
    givenUp: 'Mails are not being sent: some were given up',
    late: 'Mails are late: the queue does not get shorter',
    help: 'See why ("A mail\'s way through the queue" in the guide): a key that the provider no longer takes, a domain that is not verified. Then send them back to the queue.',
    lateMinutes: 30,
  },
  work: {
    givenUp: 'Exports, imports or purges are not being done: some were given up',
    late: 'Exports, imports and purges are late: the queue does not get shorter',
    help: 'See why in the log of run-task. Then send them back to the queue.',
    lateMinutes: 60,
  },
  webhooks: {
    givenUp: 'Webhooks are told late: some messages were given up',
    late: 'Webhooks are told late: the queue does not get shorter',
    help: 'See why in the log of deliver-webhooks. Nothing is lost by it: the clock finds what there is to tell.',
    lateMinutes: 15,
  },
};

const ids: Readonly<Record<QueueName, string>> = { mail: 'Mail', work: 'Work', webhooks: 'Webhook' };

/** What is lost when the messages of a queue are given up, or wait for long. */
export const queueAlarms = (name: QueueName, { queue, deadLetters }: QueuePair): readonly AlarmDefinition[] => {
  const { givenUp, late, help, lateMinutes } = works[name];
  const id = ids[name];
  return [
    {
      id: `${id}GivenUp`,
      title: givenUp,
      help: `Messages lie in the dead-letter queue after ${queueLimits[name].tries} tries, for 14 days. ${help}`,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      atLeast: 1,
    },
    {
      id: `${id}Late`,
      title: late,
      help: `The oldest message has waited for ${lateMinutes} minutes. Look at the errors and the duration of the function that takes them, and at the limits of whom it calls.`,
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: Duration.minutes(5) }),
      atLeast: lateMinutes * 60,
      periods: 2,
    },
  ];
};
