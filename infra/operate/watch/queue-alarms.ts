import { Duration } from 'aws-cdk-lib/core';
import type { QueueName } from '../../../functions/jobs/jobs.ts';
import { queueLimits } from '../../stacks/queue-limits.ts';
import type { QueuePair } from '../../stacks/queue-stack.ts';
import type { AlarmDefinition } from './alarm-definition.ts';

interface Work {
  readonly givenUp: string;
  readonly late: string;
  /** How to handle dead letters. */
  readonly fix: string;
  /** Minutes after which a message in the queue is late. */
  readonly lateMinutes: number;
}

const works: Readonly<Record<QueueName, Work>> = {
  mail: {
    givenUp: 'Emails are not sent: some messages were given up',
    late: 'Emails are late: the queue is not getting shorter',
    fix: 'Run the log query "One email by its id", check provider key and domain, then redrive.',
    lateMinutes: 30,
  },
  work: {
    givenUp: 'Exports, imports or purges are not done: some messages were given up',
    late: 'Exports, imports and purges are late: the queue is not getting shorter',
    fix: 'Read the log of run-task. Then redrive the messages.',
    lateMinutes: 60,
  },
  webhooks: {
    givenUp: 'Webhooks are late: some messages were given up',
    late: 'Webhooks are late: the queue is not getting shorter',
    fix: 'Read the log of deliver-webhooks. Nothing is lost: a schedule finds all outstanding deliveries.',
    lateMinutes: 15,
  },
};

const ids: Readonly<Record<QueueName, string>> = { mail: 'Mail', work: 'Work', webhooks: 'Webhook' };

/** Alarms for dead letters and for waiting messages. */
export const queueAlarms = (name: QueueName, { queue, deadLetters }: QueuePair): readonly AlarmDefinition[] => {
  const { givenUp, late, fix, lateMinutes } = works[name];
  const id = ids[name];
  return [
    {
      id: `${id}GivenUp`,
      title: givenUp,
      when: `Messages are in the dead-letter queue after ${queueLimits[name].tries} attempts. They stay for 14 days.`,
      fix,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      atLeast: 1,
    },
    {
      id: `${id}Late`,
      title: late,
      when: `The oldest message has waited for ${lateMinutes} minutes.`,
      fix: 'Check the log and duration of the function that reads the queue.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: Duration.minutes(5) }),
      atLeast: lateMinutes * 60,
      periods: 2,
    },
  ];
};
